import type { IncomingMessage } from 'node:http';
import { sha256 } from '../domain/ledger.ts';
import { ApiError, invalidField } from '../errors.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import { parseStrictJson, StrictJsonError } from './strict-json.ts';

/** The largest request body, in bytes. */
export const BODY_LIMIT = 65_536;

/**
 * How much of a body that is too large is still read and thrown away, so that a client which sends before it
 * listens reads the refusal instead of a broken connection.
 */
const MAX_DISCARDED = 4 * 1024 * 1024;

const JSON_TYPE = /^application\/json[ \t]*(;[ \t]*charset=("?)utf-8\2[ \t]*)?$/i;
const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;

const TOO_LARGE = `must be at most ${BODY_LIMIT} bytes`;

/** Whether a body follows the headers; a chunked one may turn out to be empty. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * Refuses, before the body is read, what its headers already show to be wrong: a body where none belongs, a
 * missing one, another content type or an encoding.
 */
export function checkBodyHeaders(
  message: IncomingMessage,
  route: { body?: unknown; bodyOptional?: boolean },
): void {
  const { headers } = message;
  const chunked = headers['transfer-encoding'] !== undefined;
  const has_body = hasBody(message);
  if (route.body === undefined) {
    // A chunked body may still turn out to be empty; without reading it only GET can be judged.
    if (has_body && (!chunked || message.method === 'GET')) throw invalidField('body', 'must be empty');
    return;
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw invalidField('content-encoding', 'must be absent or identity');
  if (!has_body && route.bodyOptional === true) return;
  if (!has_body) throw invalidField('body', 'is required');
  const type = headers['content-type'];
  if (type !== 'application/json' && (type === undefined || !JSON_TYPE.test(type)))
    throw invalidField('content-type', 'must be application/json');
}

/**
 * Reads a body to its end. Calls `done` once: with the bytes, with `invalid_request` when there are more than
 * `BODY_LIMIT`, or with the connection's error when the client went away.
 */
export function readBody(
  message: NodeJS.ReadableStream & { headers?: IncomingMessage['headers'] },
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  function onData(chunk: Buffer) {
    length += chunk.length;
    if (length <= BODY_LIMIT) chunks.push(chunk);
    else if (length > MAX_DISCARDED) finish(invalidField('body', TOO_LARGE));
  }
  function onEnd() {
    if (length > BODY_LIMIT) finish(invalidField('body', TOO_LARGE));
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

/** The JSON value of a body's bytes. Throws `invalid_request` naming the field at fault. */
export function parseBody(bytes: Buffer | undefined): unknown {
  if (bytes === undefined || bytes.length === 0) throw invalidField('body', 'is required');
  try {
    return parseStrictJson(bytes);
  } catch (error) {
    if (error instanceof StrictJsonError) throw invalidField(error.field, error.problem);
    throw error;
  }
}

/** SHA-256 of the RFC 8785 form of a parsed body. */
export function hashBody(body: unknown): Buffer {
  let text: string;
  try {
    text = canonicalJson(body);
  } catch (cause) {
    throw new ApiError('invalid_request', 'body: has no canonical JSON form (RFC 8785)', { cause });
  }
  return sha256(text);
}

/**
 * Refuses a request without a usable `idempotency-key`. A header sent twice reaches here joined by ", ", and
 * the space makes it unusable.
 */
export function checkIdempotencyKey(headers: IncomingMessage['headers']): void {
  const key = headers['idempotency-key'];
  if (key === undefined) throw invalidField('idempotency-key', 'is required');
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key))
    throw invalidField('idempotency-key', 'must be 1 to 255 visible ASCII characters, sent once');
}
