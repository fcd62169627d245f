import type { FastifyRequest } from 'fastify';
import type { Caller } from '../domain/keys.ts';
import { ApiError, invalidField } from '../errors.ts';
import { checkIdempotencyKey, hashBody, parseBody } from './body.ts';
import type { ParsedQuery } from './query-string.ts';
import type { Answer, Call, Route } from './route.ts';
import { echo, type Validate } from './validation.ts';

const PARAM = /^[A-Za-z0-9_-]{1,64}$/;
const FILE_PARAM = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;

/** Everything a handler is given. Throws the refusal of whatever is wrong with the request. */
export function makeCall(
  route: Route,
  request: FastifyRequest,
  validateQuery: Validate | null,
  validateBody: Validate | null,
  hold: Call['hold'],
): Call {
  const params = request.params as Record<string, string>;
  const param = route.names_file === true ? FILE_PARAM : PARAM;
  for (const name in params) {
    if (!param.test(params[name] as string)) throw new ApiError('not_found', 'No such resource.');
  }

  const query = request.query as ParsedQuery;
  if (query.invalid !== null) throw invalidField(echo(query.invalid.field), query.invalid.problem);
  if (validateQuery !== null) validateQuery(query.values);
  else for (const name in query.values) throw invalidField(echo(name), 'is not a known query parameter');

  if (route.idempotent === true) checkIdempotencyKey(request.headers);

  let body: unknown;
  let body_hash: Buffer | undefined;
  const bytes = request.body as Buffer | undefined;
  if (validateBody !== null) {
    const is_left_out = route.bodyOptional === true && (bytes === undefined || bytes.length === 0);
    body = is_left_out ? {} : parseBody(bytes);
    // Before validation, because that replaces text by its normalised form.
    if (route.idempotent === true) body_hash = hashBody(body);
    validateBody(body);
  } else if (bytes !== undefined && bytes.length > 0) {
    throw invalidField('body', 'must be empty');
  }

  const { exchange } = request;
  return {
    params,
    query: query.values,
    body,
    headers: request.headers,
    // Null on public routes, whose handlers do not look at it.
    caller: exchange.caller as Caller,
    request_id: exchange.request_id,
    client_address: exchange.client_address,
    body_hash,
    hold,
  };
}

/** `Route` erases the types that its schemas gave the handler; what was validated above has them. */
export function runHandler(route: Route, call: Call): Promise<Answer> {
  return route.handler(call as Call<never, never, never>);
}
