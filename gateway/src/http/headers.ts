import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Upstream } from '../config.ts';

/** Headers of one connection, which are never passed on. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
/** The agent's key, what the gateway sets itself, and what would make an answer unreadable for it. */
const NOT_SENT = ['authorization', 'x-api-key', 'accept-encoding', 'host', 'content-length', 'expect'];

/** Names that the `connection` header of a message declares to be of the connection alone. */
function connectionNames(value: string | string[] | undefined): string[] {
  return String(value ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase());
}

/**
 * The headers of a request as they go to the provider, with its key. A body goes as what it was read as: JSON in UTF-8. Another
 * type or character set could let the provider read other limits in it.
 */
export function headersToUpstream(
  headers: IncomingHttpHeaders,
  upstream: Upstream,
  has_body: boolean,
): Record<string, string | string[]> {
  const left_out = new Set([...HOP_BY_HOP, ...NOT_SENT, ...connectionNames(headers.connection)]);
  const sent: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !left_out.has(name) && !name.startsWith('x-purser-')) sent[name] = value;
  if (upstream.provider === 'openai') sent.authorization = `Bearer ${upstream.key}`;
  else sent['x-api-key'] = upstream.key;
  if (has_body) sent['content-type'] = 'application/json';
  return sent;
}

/** The headers of the provider's answer as they go to the agent. */
export function headersToClient(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const left_out = new Set([...HOP_BY_HOP, ...connectionNames(headers.connection)]);
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => value !== undefined && !left_out.has(name) && !name.startsWith('x-purser-'),
    ),
  );
}

/** The agent's key: `x-api-key`, or the bearer token of `authorization`. */
export function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const own = headers['x-api-key'];
  if (typeof own === 'string') return own;
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}
