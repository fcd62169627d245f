import type { IncomingMessage } from 'node:http';
import { invalidField } from '@purser/rules/errors';
import { mediaType } from './content.ts';

const JSON_TYPE = /^application\/json[ \t]*(;[ \t]*charset=("?)utf-8\2[ \t]*)?$/i;

function checkEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw invalidField('content-encoding', 'must be absent or identity');
}

/** Checks what announces a file. */
function checkContentHeaders(message: IncomingMessage, types: readonly string[]): void {
  checkEncoding(message);
  if (!hasBody(message)) throw invalidField('body', 'is required');
  if (!types.includes(mediaType(message.headers['content-type'])))
    throw invalidField('content-type', `must be ${types.join(' or ')}`);
}

/** Returns whether a body follows the headers. A chunked body may still turn out to be empty. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Many clients send `{}` with every POST, so routes without a body take it. */
export const takesEmptyObject = (route: {
  method?: string;
  body?: unknown;
  content?: readonly string[];
}): boolean => route.body === undefined && route.content === undefined && route.method === 'POST';

/**
 * Checks before the body is read what its headers already show. Throws if the route takes no body, if the body is
 * missing, and if the content type or content encoding is not supported.
 */
export function checkBodyHeaders(
  message: IncomingMessage,
  route: { method?: string; body?: unknown; bodyOptional?: boolean; content?: readonly string[] },
): void {
  const { headers } = message;
  const chunked = headers['transfer-encoding'] !== undefined;
  const has_body = hasBody(message);
  if (route.content !== undefined) {
    checkContentHeaders(message, route.content);
    return;
  }
  if (route.body === undefined) {
    // A chunked body may be empty, which only reading it shows. A GET is refused without reading it.
    const is_refused = message.method === 'GET' || (!chunked && !takesEmptyObject(route));
    if (has_body && is_refused) throw invalidField('body', 'must be empty');
    if (!has_body || chunked) return;
  }
  checkEncoding(message);
  if (!has_body && route.bodyOptional === true) return;
  if (!has_body) throw invalidField('body', 'is required');
  const type = headers['content-type'];
  if (type !== 'application/json' && (type === undefined || !JSON_TYPE.test(type)))
    throw invalidField('content-type', 'must be application/json');
}
