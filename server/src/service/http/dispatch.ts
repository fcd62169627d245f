import type { FastifyInstance, FastifyRequest } from 'fastify';
import { keyOfRequest } from './access.ts';
import type { Dispatch } from './route.ts';

const JSON_HEADERS = { 'content-type': 'application/json' };

/**
 * Makes the function that makes the `dispatch` of a request. The routes are called within the process, through every
 * hook that a request from outside goes through. While one of them works the calling request has no deadline of its own,
 * since the called one has; `resume` sets it again.
 */
export function makeDispatch(server: FastifyInstance) {
  return (request: FastifyRequest, resume: () => void): Dispatch =>
    async ({ method, path, headers = {}, body, signal }) => {
      const { exchange } = request;
      const ended = new AbortController();
      const end = () => ended.abort();
      exchange.hold(end);
      const { traceparent } = request.headers;
      const of_caller = {
        'x-api-key': keyOfRequest(request.headers) ?? '',
        // One id in the log, and in what is made, for what one request has done.
        'x-request-id': exchange.request_id,
        ...(typeof traceparent === 'string' ? { traceparent } : {}),
      };
      exchange.clearDeadline();
      try {
        const answered = await server.inject({
          method,
          url: path,
          remoteAddress: exchange.client_address,
          headers: { ...of_caller, ...headers, ...(body === undefined ? {} : JSON_HEADERS) },
          ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
          signal: signal === undefined ? ended.signal : AbortSignal.any([ended.signal, signal]),
        });
        return {
          status: answered.statusCode,
          json: answered.payload === '' ? null : JSON.parse(answered.payload),
        };
      } finally {
        resume();
      }
    };
}
