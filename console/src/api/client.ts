import { APIError, InvalidRequestError, Purser } from '@purser/sdk';
import { demand } from './session.ts';

/** Nothing takes longer but what goes through the whole history. Milliseconds. */
const TIMEOUT_MS = 30_000;
const LONG_TIMEOUT_MS = 300_000;
const LONG = /\/(verify|simulate|export)\b/;

/** Where a 401 or 403 is the answer to what was typed, and no session that ended. */
const OF_SIGN_IN = /^\/v1\/auth\/(?!passkey\/register\/)/;

/** Marks, within this module, a call whose 401 is an answer; never sent. */
const QUIET = 'x-console-quiet';

/**
 * Sends with the session's cookie. A session that ended, and a proof of identity that became stale, are asked for in a
 * dialog while the request waits; then it is sent once more. Its time limit is that of each try, since people take theirs.
 */
const sessionFetch: typeof fetch = async (input, init = {}) => {
  const url = new URL(String(input), location.origin);
  const headers = new Headers(init.headers);
  const is_quiet = headers.has(QUIET);
  headers.delete(QUIET);
  const limit_ms = LONG.test(url.pathname) ? LONG_TIMEOUT_MS : TIMEOUT_MS;
  for (let is_retry = false; ; is_retry = true) {
    const limit = AbortSignal.timeout(limit_ms);
    const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
    const response = await fetch(url, { ...init, headers, signal, credentials: 'same-origin' });
    if (is_retry || OF_SIGN_IN.test(url.pathname) || is_quiet) return response;
    if (response.status === 401) await demand('sign-in');
    else if (response.status === 403 && (await codeOf(response.clone())) === 'reauthentication_required')
      await demand('proof');
    else return response;
  }
};

async function codeOf(response: Response): Promise<string | undefined> {
  try {
    return ((await response.json()) as { error?: { code?: string } }).error?.code;
  } catch {
    return undefined;
  }
}

/** The service, as the person who is signed in. */
export const purser = new Purser({
  // The session's cookie says who it is; a key is never in the page.
  credentials: 'same-origin',
  baseURL: location.origin,
  maxRetries: 1,
  timeout: 2_000_000_000,
  fetch: sessionFetch,
});

interface Given {
  body?: unknown;
  query?: Record<string, unknown>;
  quiet?: boolean;
  signal?: AbortSignal;
}

/** Calls a route that the client library has no method for. Rejects with an `APIError` as that does. */
export async function call<T>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  given: Given = {},
): Promise<T> {
  const response = await send(method, path, 'application/json', given);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** What a route answers, letter by letter, in the form that is asked for. Rejects as `call` does. */
export async function callText(path: string, accept: string, given: Given = {}): Promise<string> {
  return (await send('GET', path, accept, given)).text();
}

async function send(method: string, path: string, accept: string, given: Given): Promise<Response> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given.query ?? {})) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const headers: Record<string, string> = { accept };
  if (given.body !== undefined) headers['content-type'] = 'application/json';
  if (given.quiet === true) headers[QUIET] = '1';
  const response = await sessionFetch(`${path}${query.size > 0 ? `?${query}` : ''}`, {
    method,
    headers,
    ...(given.body === undefined ? {} : { body: JSON.stringify(given.body) }),
    ...(given.signal === undefined ? {} : { signal: given.signal }),
  });
  if (response.ok) return response;
  throw await errorOf(response);
}

async function errorOf(response: Response): Promise<APIError> {
  let told: { code?: unknown; message?: unknown } = {};
  try {
    told = ((await response.json()) as { error?: typeof told }).error ?? {};
  } catch {
    // Something between here and the service answered.
  }
  const { status, headers } = response;
  const code = typeof told.code === 'string' ? told.code : 'unexpected_response';
  const message = typeof told.message === 'string' ? told.message : `HTTP ${status} without an explanation`;
  const facts = { requestId: headers.get('x-request-id') ?? undefined };
  const Class = status === 400 ? InvalidRequestError : APIError;
  return new Class({ status, headers, code, message }, facts);
}

/** The code of an error of the service; undefined of any other. */
export const codeOfError = (error: unknown): string | undefined =>
  error instanceof APIError ? error.code : undefined;

/** What is wrong with a field, without its name: that stands above it. */
export function problemOf({ field, message }: InvalidRequestError): string {
  return field === undefined ? message : message.slice(field.length + 2);
}

/** What went wrong, in a sentence for people. */
export function sentenceOf(error: unknown): string {
  if (error instanceof APIError) {
    if (error.code === 'rate_limited') return 'Too many requests for the moment; try again in a minute.';
    return error.message;
  }
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return 'The service took too long to answer; try again.';
  if (error instanceof Error && error.name !== 'TypeError' && error.message !== '') return error.message;
  return 'The service could not be reached; check the connection and try again.';
}
