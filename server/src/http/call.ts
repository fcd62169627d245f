import type { FastifyRequest } from 'fastify';
import type { Caller } from '../domain/keys.ts';
import { ApiError, invalidField } from '../errors.ts';
import { checkIdempotencyKey, hashBody, parseBody } from './body.ts';
import type { ParsedQuery } from './query-string.ts';
import type { Answer, Call, Route } from './route.ts';
import { compileSchema, echo } from './validation.ts';

const PARAM = /^[A-Za-z0-9_-]{1,64}$/;
const FILE_PARAM = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;

type Check = (request: FastifyRequest) => void;

/**
 * What is checked of a request once its body is there and before Fastify validates that, in this order: path, query,
 * idempotency key, and whether the body is JSON. Each throws the refusal of what is wrong. These are no schemas of the
 * route, because Fastify validates the body before the query, and knows no 404 for a parameter of the path.
 */
export function makeChecks(route: Route): Check[] {
  const checks: Check[] = [makePathCheck(route), makeQueryCheck(route)];
  if (route.idempotent === true) checks.push(({ headers }) => checkIdempotencyKey(headers));
  checks.push(route.body === undefined ? refuseBody : parseJson);
  return checks;
}

/** What can be no id, or no name of a file, names nothing. */
function makePathCheck({ names_file }: Route): Check {
  const form = names_file === true ? FILE_PARAM : PARAM;
  return ({ params }) => {
    for (const value of Object.values(params as Record<string, string>)) {
      if (!form.test(value)) throw new ApiError('not_found', 'No such resource.');
    }
  };
}

function makeQueryCheck({ query: schema }: Route): Check {
  const validate = schema === undefined ? refuseParameters : compileSchema(schema, 'query');
  return (request) => {
    const { values, invalid } = request.query as ParsedQuery;
    if (invalid !== null) throw invalidField(echo(invalid.field), invalid.problem);
    validate(values);
    request.query = values;
  };
}

function refuseParameters(values: unknown): void {
  for (const name in values as object) throw invalidField(echo(name), 'is not a known query parameter');
}

/** Of a chunked body only its end tells whether there is one. */
function refuseBody({ body }: FastifyRequest): void {
  if (body !== undefined && (body as Buffer).length > 0) throw invalidField('body', 'must be empty');
}

function parseJson(request: FastifyRequest): void {
  const { exchange } = request;
  const bytes = request.body as Buffer | undefined;
  const is_left_out = exchange.route?.bodyOptional === true && (bytes === undefined || bytes.length === 0);
  request.body = is_left_out ? {} : parseBody(bytes);
  // Before validation, because that replaces text by its normalised form.
  if (exchange.route?.idempotent === true) exchange.body_hash = hashBody(request.body);
}

/** Hands a request that has passed all checks to its route's handler. */
export function callHandler(route: Route, request: FastifyRequest, hold: Call['hold']): Promise<Answer> {
  const { exchange, params, query, body, headers } = request;
  // `Route` erases the types that its schemas gave the handler; what was validated has them.
  const call: Call<never, never, never> = {
    params: params as never,
    query: query as never,
    body: body as never,
    headers,
    // Null on public routes, whose handlers do not look at it.
    caller: exchange.caller as Caller,
    request_id: exchange.request_id,
    client_address: exchange.client_address,
    body_hash: exchange.body_hash,
    hold,
  };
  return route.handler(call);
}
