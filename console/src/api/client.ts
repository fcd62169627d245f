import { APIError, ConnectionError, type InvalidRequestError, Purser, TimeoutError } from '@purser/sdk';
import { type Demand, demand } from './session.ts';

/** Nothing takes longer but what goes through the whole history, or gives all of a list as a table. Milliseconds. */
const TIMEOUT_MS = 30_000;
const LONG_TIMEOUT_MS = 300_000;
const LONG = /\/(verify|simulate|export)\b/;

/** Where a 401 or 403 is the answer to what was typed, and no session that ended. */
const OF_SIGN_IN = /^\/v1\/auth\/(?!passkey\/register\/)/;
/** One route is both: who removes their password is signed in, and has to prove it. */
const isAnswer = (method: string | undefined, path: string) => OF_SIGN_IN.test(path) && method !== 'DELETE';

const QUIET_HEADER = 'x-console-quiet';
/** The options of a call whose 401 is an answer, and no session that ended. The header is never sent. */
export const QUIET = { headers: { [QUIET_HEADER]: '1' } } as const;

/**
 * Sends with the session's cookie. A session that ended, and a proof of identity that became stale, are asked for in a
 * dialog while the request waits, each once; then it is sent again. Its time limit is that of each try, since people take
 * theirs.
 */
const sessionFetch: typeof fetch = async (input, init = {}) => {
  const url = new URL(String(input), location.origin);
  const headers = new Headers(init.headers);
  const is_quiet = headers.has(QUIET_HEADER);
  headers.delete(QUIET_HEADER);
  const is_long = LONG.test(url.pathname) || headers.get('accept') === 'text/csv';
  const limit_ms = is_long ? LONG_TIMEOUT_MS : TIMEOUT_MS;
  const met = new Set<Demand>();
  for (;;) {
    const limit = AbortSignal.timeout(limit_ms);
    const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
    const response = await fetch(url, { ...init, headers, signal }).catch((error: unknown) => {
      throw limit.aborted ? new TimeoutError('The service took too long to answer; try again.') : error;
    });
    if (isAnswer(init.method, url.pathname) || is_quiet) return response;
    const demanded = await demandOf(response);
    if (demanded === null || met.has(demanded)) return response;
    await demand(demanded);
    met.add(demanded);
  }
};

/** What an answer asks of the person before the request can succeed; null: nothing. */
async function demandOf(response: Response): Promise<Demand | null> {
  if (response.status === 401) return 'sign-in';
  const is_stale =
    response.status === 403 && (await codeOf(response.clone())) === 'reauthentication_required';
  return is_stale ? 'proof' : null;
}

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

/** The code of an error of the service; undefined of any other. */
export const codeOfError = (error: unknown): string | undefined =>
  error instanceof APIError ? error.code : undefined;

/** What is wrong with a field, without its name: that stands above it. */
export function problemOf({ field, message }: InvalidRequestError): string {
  return field === undefined ? message : message.slice(field.length + 2);
}

/** What went wrong, in a sentence for people. */
export function sentenceOf(error: unknown): string {
  if (error instanceof APIError && error.code === 'rate_limited')
    return 'Too many requests for the moment; try again in a minute.';
  const is_unreached = error instanceof ConnectionError && !(error instanceof TimeoutError);
  if (error instanceof Error && !is_unreached && error.name !== 'TypeError') return error.message;
  return 'The service could not be reached; check the connection and try again.';
}
