import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { ApiError, invalidField, type RefusalReason } from '@purser/rules/errors';
import { isUnavailable } from '../../engine/storage/database.ts';

/** The message for an unforeseen failure. Its cause is only logged. */
const UNFORESEEN = 'An unexpected error occurred; nothing was granted.';

/** Returns the body of an error as text: `{ error: { code, message, request_id } }`. */
export function errorJson(error: ApiError, request_id: string): string {
  return JSON.stringify({ error: { code: error.code, message: error.message, request_id } });
}

/**
 * Returns the error that the caller receives for anything that was thrown. Only the message of an `ApiError` is passed
 * on.
 */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (isUnavailable(thrown)) {
    return new ApiError('unavailable', 'The service cannot answer right now; retry.', {
      cause: thrown,
      retry_after_s: 1,
      // The database may have gone when the write was done and only its answer was still to be read.
      is_outcome_unknown: true,
    });
  }
  const { code, statusCode } = (thrown ?? {}) as { code?: unknown; statusCode?: unknown };
  if (typeof code === 'string' && code.startsWith('FST_ERR_CTP_'))
    return new ApiError('invalid_request', 'content-type: must be application/json', { cause: thrown });
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new ApiError('invalid_request', 'request: cannot be read', { cause: thrown });
  return new ApiError('internal_error', UNFORESEEN, { cause: thrown });
}

/**
 * Returns why the service refused a request, and null for an error of the caller. An error of authentication wraps the
 * error that caused it.
 */
export function refusalReason(error: ApiError): RefusalReason | null {
  const { cause, code, status } = error;
  if (error.reason !== undefined) return error.reason;
  if (cause instanceof ApiError) return refusalReason(cause);
  if (isUnavailable(cause)) return 'database';
  if (status === 429) return 'rate_limit';
  return status < 500 || code === 'not_implemented' ? null : 'failure';
}

/** Returns the failure behind an error that its code and reason do not tell; null where they tell all. */
export function failureBehind(error: ApiError): unknown {
  const { cause, reason } = error;
  if (cause instanceof ApiError) return failureBehind(cause);
  return cause ?? (reason === undefined ? error : null);
}

/** The answer was not ready in time. The request may still be carried out. */
export const DEADLINE_EXCEEDED = new ApiError(
  'unavailable',
  'The request did not complete in time, and may have been carried out; retry with the same idempotency key.',
  { retry_after_s: 1, is_outcome_unknown: true, reason: 'deadline' },
);

/** Returns the error for bytes that are not an HTTP request, by the code of Node's `clientError`. */
export function malformedRequest(code: string | undefined): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('invalid_request', 'headers: must be at most 16 KiB');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('invalid_request', 'request: was not received in time');
    default:
      return new ApiError('invalid_request', 'request: is not well-formed HTTP');
  }
}

/** Throws if the headers of a request are ambiguous about its host or its body, or if there are too many of them. */
export function checkMessage(message: IncomingMessage, max_headers: number): void {
  const { rawHeaders, headers } = message;
  if (rawHeaders.length > 2 * max_headers)
    throw new ApiError('too_many_headers', `headers: must be at most ${max_headers}`);
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) throw invalidField('host', 'must be sent once');
  if (hosts === 0 && message.httpVersionMinor === 1) throw invalidField('host', 'is required');
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new ApiError('not_implemented', 'transfer-encoding: must be chunked, or absent');
}

/** Returns a complete HTTP/1.1 answer as text, for input that never became a request. */
export function rawErrorAnswer(error: ApiError, request_id: string): string {
  const body = errorJson(error, request_id);
  return [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${request_id}`,
    'cache-control: no-store',
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
