import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Caller } from '@purser/rules/domain/keys';
import { sha256 } from '@purser/rules/domain/ledger';
import { ApiError, invalidField } from '@purser/rules/errors';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import type { FastifyRequest } from 'fastify';
import { checkProof } from './access.ts';
import { takesEmptyObject } from './bodies/body-headers.ts';
import { chunksOf, mediaType } from './bodies/content.ts';
import type { ParsedQuery } from './query-string.ts';
import type { Answer, Call, Dispatch, Route } from './route.ts';
import { parseStrictJson } from './strict-json.ts';
import { compileSchema, echo } from './validation.ts';

/** The largest request body, in bytes. */
export const BODY_LIMIT = 65_536;

/**
 * The number of bytes of a too large body that are still read and discarded. Many clients read the answer only after
 * they have sent the whole body; they would otherwise see a broken connection instead of the refusal.
 */
const MAX_DISCARDED = 4 * 1024 * 1024;

const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;

const PARAM = /^[A-Za-z0-9_-]{1,64}$/;
/** The name of an instrument: its name, a colon, and the rail's own name. */
const RAIL_PARAM = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}:[!#-[\]-~]{1,200}$/;
const FILE_PARAM = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;

/**
 * Reads a body to its end. Calls `done` once: with the bytes, with `invalid_request` if there are more than
 * `limit`, or with the error of the connection if the client closed it.
 */
export function readBody(
  message: NodeJS.ReadableStream & { headers?: IncomingMessage['headers'] },
  done: (error: Error | null, body?: Buffer) => void,
  limit = BODY_LIMIT,
): void {
  const too_large = () => invalidField('body', `must be at most ${limit} bytes`);
  const chunks: Buffer[] = [];
  let length = 0;
  function onData(chunk: Buffer) {
    length += chunk.length;
    if (length <= limit) chunks.push(chunk);
    else if (length > MAX_DISCARDED) finish(too_large());
  }
  function onEnd() {
    if (length > limit) finish(too_large());
    else finish(null);
  }
  function finish(error: Error | null) {
    message.removeListener('data', onData);
    message.removeListener('end', onEnd);
    message.removeListener('error', finish);
    if (error !== null) done(error);
    else done(null, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length));
  }
  message.on('data', onData);
  message.on('end', onEnd);
  message.on('error', finish);
}

type Check = (request: FastifyRequest) => void;

/**
 * Makes the checks that run once the body was received and before Fastify validates it, in this order: path, query,
 * idempotency key, syntax of the body. Each throws the error that the caller receives. They are not given to Fastify as
 * schemas, because it validates the body before the query, and because an invalid path parameter has to be a 404.
 */
export function makeChecks(route: Route): Check[] {
  const checks: Check[] = [makePathCheck(route)];
  if (route.serves_files !== true) checks.push(makeQueryCheck(route));
  if (route.idempotent === true) checks.push(({ headers }) => checkIdempotencyKey(headers));
  if (takesEmptyObject(route)) checks.push(takeEmptyObject);
  else if (route.content === undefined && route.takes_bytes === undefined)
    checks.push(route.body === undefined ? refuseBody : parseJson);
  return checks;
}

/** A parameter that cannot be an id, or the name of a file, is answered like one that does not exist. */
function makePathCheck({ serves_files, names_instrument }: Route): Check {
  const form = serves_files === true ? FILE_PARAM : names_instrument === true ? RAIL_PARAM : PARAM;
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

/** This repeats the check of the headers, because a chunked body may turn out not to be empty. */
function refuseBody({ body }: FastifyRequest): void {
  if (body !== undefined && (body as Buffer).length > 0) throw invalidField('body', 'must be empty');
}

function takeEmptyObject(request: FastifyRequest): void {
  const bytes = request.body as Buffer | undefined;
  request.body = undefined;
  if (bytes === undefined || bytes.length === 0) return;
  const value = parseStrictJson(bytes);
  const is_empty_object =
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
  if (!is_empty_object) throw invalidField('body', 'must be empty or {}');
}

function parseJson(request: FastifyRequest): void {
  const { exchange } = request;
  const bytes = request.body as Buffer | undefined;
  const is_empty = bytes === undefined || bytes.length === 0;
  if (is_empty && exchange.route?.bodyOptional !== true) throw invalidField('body', 'is required');
  request.body = is_empty ? {} : parseStrictJson(bytes);
  // The hash is taken before validation, which replaces text by its normalised form.
  if (exchange.route?.idempotent === true) exchange.body_hash = hashBody(request.body);
}

/** Returns the SHA-256 of the RFC 8785 form of a parsed body. */
function hashBody(body: unknown): Buffer {
  let text: string;
  try {
    text = canonicalJson(body);
  } catch (cause) {
    throw new ApiError('invalid_request', 'body: has no canonical JSON form (RFC 8785)', { cause });
  }
  return sha256(text);
}

/**
 * Throws unless the request has a valid `idempotency-key`. Node joins a header that was sent twice with ", ", which is
 * invalid because of its space.
 */
function checkIdempotencyKey(headers: IncomingMessage['headers']): void {
  const key = headers['idempotency-key'];
  if (key === undefined) throw invalidField('idempotency-key', 'is required');
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key))
    throw invalidField('idempotency-key', 'must be 1 to 255 visible ASCII characters, sent once');
}

/** Calls the route's handler with a request that has passed all checks, the proof of identity last. */
export async function callHandler(
  route: Route,
  request: FastifyRequest,
  { hold, dispatch }: { hold: Call['hold']; dispatch: Dispatch },
): Promise<Answer> {
  const { exchange, params, query, body, headers } = request;
  const call: Call = {
    params: params as Call['params'],
    query: query as Call['query'],
    body,
    bytes: route.takes_bytes === undefined ? undefined : (body as Buffer),
    headers,
    // This is null on public routes, whose handlers do not read it.
    caller: exchange.caller as Caller,
    request_id: exchange.request_id,
    client_address: exchange.client_address,
    body_hash: exchange.body_hash,
    content:
      route.content === undefined
        ? undefined
        : { type: mediaType(headers['content-type']), chunks: chunksOf(body as Readable) },
    hold,
    onEnd: (stop) => exchange.hold(stop),
    dispatch,
  };
  await checkProof(route, call);
  return route.handler(call);
}

/** Returns the hash that `if-match` names; null without the header. Throws `invalid_request`. */
export function expectedHash(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const found = /^"(sha256:[0-9a-f]{64})"$/.exec(String(header).trim());
  if (found === null)
    throw invalidField('if-match', 'must be the hash of a version in double quotes: "sha256:…"');
  return found[1] as string;
}
