import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Admission } from './admission.ts';
import type { Exchange } from './exchange.ts';
import { errorJson, toApiError } from './failures.ts';
import type { Limits } from './limits.ts';
import type { Answer } from './route.ts';
import type { ServerOptions } from './server-options.ts';
import { writeAll, writeWhole } from './streams.ts';

const JSON_TYPE = 'application/json';
/** In the log only: the client had gone before it could be answered. */
const CLIENT_GONE = 499;

type Headers = Record<string, string>;

export interface Answers {
  /** Sends what a handler answered. Rejects only while nothing was sent. */
  answer(request: FastifyRequest, reply: FastifyReply, answer: Answer): Promise<void>;
  /** Answers with whatever was thrown. */
  fail(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void;
}

/**
 * How requests are answered: once each, with the headers that every answer has, and a line in the log. The exchange
 * ends when its answer is sent; what the client has not taken of it then counts among the unsent bytes until it has.
 */
export function makeAnswers(
  options: Pick<ServerOptions, 'logger' | 'metrics' | 'now_ms'> & {
    limits: Limits;
    admission: Admission;
    isDraining: () => boolean;
  },
): Answers {
  const { logger, metrics, now_ms, limits, admission, isDraining } = options;

  function headersOf(exchange: Exchange, body: Record<string, string | number>, extra: Headers | undefined) {
    const headers: Record<string, string | number> = { 'x-request-id': exchange.request_id };
    for (const name in body) headers[name] = body[name] as string;
    headers['cache-control'] = 'no-store';
    headers['x-content-type-options'] = 'nosniff';
    if (exchange.count !== null) {
      headers['RateLimit-Policy'] = exchange.count.policy;
      headers.RateLimit = exchange.count.state;
    }
    if (isDraining()) headers.connection = 'close';
    if (extra !== undefined) for (const name in extra) headers[name] = extra[name] as string;
    return headers;
  }

  function record(method: string, exchange: Exchange, status: number): void {
    const duration_ms = Math.round((now_ms() - exchange.began_ms) * 1000) / 1000;
    metrics.countRequest(method, exchange.route, status, duration_ms);
    const line = {
      method,
      route: exchange.route,
      status,
      duration_ms,
      request_id: exchange.request_id,
      client_address: exchange.client_address,
      workspace_id: exchange.caller?.workspace_id,
      key_id: exchange.caller?.key_id,
      trace_id: exchange.trace_id,
    };
    const kind = exchange.securityEvent(status);
    if (kind === null) logger.info(line, 'request');
    else logger.warn({ ...line, event: 'security', kind }, 'request');
  }

  /** What the client has still to take is counted as its workspace's; where there is too much of it, it is cut off. */
  function holdUnsent({ raw }: FastifyReply, exchange: Exchange, bytes: number): void {
    const release = admission.unsent.tryTake(exchange.holder, bytes);
    if (release !== null) {
      raw.once('close', release);
      return;
    }
    admission.countRefusal();
    raw.destroy();
  }

  function send(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    payload: string | Buffer | null,
    content_type: string,
    extra: Headers | undefined,
  ): void {
    const { exchange } = request;
    if (exchange.answered) return;
    const body: Record<string, string | number> =
      payload === null ? {} : { 'content-type': content_type, 'content-length': Buffer.byteLength(payload) };
    const headers = headersOf(exchange, body, extra);
    const { raw } = reply;
    if (!reply.sent) reply.hijack();
    const gone = raw.destroyed || raw.headersSent;
    if (!gone) {
      raw.writeHead(status, headers);
      const unsent = writeWhole(raw, payload ?? '', limits);
      if (unsent > 0) holdUnsent(reply, exchange, unsent);
    }
    exchange.answered = true;
    exchange.end();
    record(request.method, exchange, gone ? CLIENT_GONE : status);
  }

  async function sendStream(
    request: FastifyRequest,
    reply: FastifyReply,
    { status, headers, stream }: Answer & { stream: NonNullable<Answer['stream']> },
  ): Promise<void> {
    const { exchange } = request;
    const { chunks, content_type } = stream;
    // Whatever the generator has taken is given back with the exchange, also when nothing was ever asked of it.
    exchange.hold(() => void chunks.return().catch((error: unknown) => logStreamFailure(exchange, error)));
    exchange.hold(await admission.streams.take(exchange.holder));
    if (exchange.answered) return;
    const first = await chunks.next();
    if (exchange.answered) return;
    const { raw } = reply;
    if (!reply.sent) reply.hijack();
    exchange.is_export = true;
    if (!raw.destroyed) raw.writeHead(status, headersOf(exchange, { 'content-type': content_type }, headers));
    exchange.answered = true;
    exchange.clearDeadline();
    try {
      await writeAll(raw, first, chunks, limits);
    } catch (error) {
      logStreamFailure(exchange, error);
    }
    exchange.end();
    record(request.method, exchange, raw.destroyed ? CLIENT_GONE : status);
  }

  function logStreamFailure(exchange: Exchange, error: unknown): void {
    logger.error({ err: error, request_id: exchange.request_id, route: exchange.route }, 'request failed');
  }

  return {
    async answer(request, reply, answer) {
      const { status, headers, text, stream } = answer;
      if (stream !== undefined) await sendStream(request, reply, { ...answer, stream });
      else if (text !== undefined) send(request, reply, status, text.content, text.content_type, headers);
      else if (answer.json !== undefined) send(request, reply, status, answer.json, JSON_TYPE, headers);
      else if (answer.body === undefined) send(request, reply, status, null, JSON_TYPE, headers);
      else send(request, reply, status, JSON.stringify(answer.body), JSON_TYPE, headers);
    },
    fail(request, reply, thrown) {
      const error = toApiError(thrown);
      const { exchange } = request;
      // A client that hangs up makes reading its body fail; that is no failure of the service.
      if (error.is_overload) admission.countRefusal();
      else if (error.status >= 500 && !reply.raw.destroyed)
        logger.error(
          {
            err: error.cause ?? error,
            code: error.code,
            request_id: exchange.request_id,
            route: exchange.route,
          },
          'request failed',
        );
      const headers =
        error.retry_after_s === undefined ? undefined : { 'retry-after': String(error.retry_after_s) };
      send(request, reply, error.status, errorJson(error, exchange.request_id), JSON_TYPE, headers);
    },
  };
}
