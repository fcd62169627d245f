import type { IncomingHttpHeaders } from 'node:http';

const SAFE_REQUEST_ID = /^[A-Za-z0-9._:/+=@-]{1,128}$/;
/** W3C Trace Context, version 00; later versions may append fields after the flags. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/** The client's own `x-request-id` where it is 1 to 128 safe characters, else a fresh one. */
export function requestId(headers: IncomingHttpHeaders, newRequestId: () => string): string {
  const own = headers['x-request-id'];
  return typeof own === 'string' && SAFE_REQUEST_ID.test(own) ? own : newRequestId();
}

/** The trace id of a well-formed `traceparent` header. */
export function traceId(headers: IncomingHttpHeaders): string | undefined {
  const traceparent = headers.traceparent;
  if (typeof traceparent !== 'string') return undefined;
  const parts = TRACEPARENT.exec(traceparent);
  // Version 00 has exactly four fields.
  return parts === null || (parts[2] !== undefined && traceparent.startsWith('00')) ? undefined : parts[1];
}
