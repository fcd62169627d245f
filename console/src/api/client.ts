import { APIError, ConnectionError, type InvalidRequestError, Purser, TimeoutError } from '@purser/sdk';
import { awaitDemand, type Demand } from './session.ts';

/** Time limits of a request. Verification, simulation, exports and sample data take longer. Milliseconds. */
const TIMEOUT_MS = 30_000;
const LONG_TIMEOUT_MS = 300_000;
const LONG = /\/(verify|simulate|export|sample)\b/;

/** Routes whose 401 or 403 answers the person's input and does not mean an ended session. */
const OF_SIGN_IN = /^\/v1\/auth\/(?!passkey\/register\/)/;
/** Removing a password is the exception: it needs a session and a fresh proof. */
const isAnswer = (method: string | undefined, path: string) => OF_SIGN_IN.test(path) && method !== 'DELETE';

const QUIET_HEADER = 'x-console-quiet';
/** Options of a call whose 401 is a normal answer. The header is never sent. */
export const QUIET = { headers: { [QUIET_HEADER]: '1' } } as const;

/** Options of a call that no person made. It shows no dialog, and the session ends as if it had not been made. */
export const BACKGROUND = { headers: { [QUIET_HEADER]: '1', 'x-purser-background': '1' } } as const;

/**
 * Sends a request with the session's cookie. If the session has ended or the proof of identity is stale, a dialog asks for
 * it once while the request waits, which is then sent again. The time limit applies to each try, since people take time.
 */
const sessionFetch: typeof fetch = async (input, init = {}) => {
  const url = new URL(String(input), location.origin);
  const headers = new Headers(init.headers);
  const is_quiet = headers.has(QUIET_HEADER);
  headers.delete(QUIET_HEADER);
  // A review that is held is sent while the page is left.
  const keepalive = init.method === 'POST' && url.pathname.endsWith('/reviews');
  const is_long = LONG.test(url.pathname) || headers.get('accept') === 'text/csv';
  const limit_ms = is_long ? LONG_TIMEOUT_MS : TIMEOUT_MS;
  const met = new Set<Demand>();
  for (;;) {
    const limit = AbortSignal.timeout(limit_ms);
    const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
    const response = await fetch(url, { ...init, headers, signal, keepalive }).catch((error: unknown) => {
      throw limit.aborted ? new TimeoutError('The service took too long to respond. Try again.') : error;
    });
    if (isAnswer(init.method, url.pathname) || is_quiet) return response;
    const demanded = await demandOf(response);
    if (demanded === null || met.has(demanded)) return response;
    await awaitDemand(demanded);
    met.add(demanded);
  }
};

/** The demand of a response on the person. Null if there is none. */
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

/** The client for the service, acting as the signed-in person. */
export const purser = new Purser({
  // The session's cookie identifies the person. The page never has a key.
  credentials: 'same-origin',
  baseURL: location.origin,
  maxRetries: 1,
  timeout: 2_000_000_000,
  fetch: sessionFetch,
});

/** The code of a service error. Undefined for other errors. */
export const codeOfError = (error: unknown): string | undefined =>
  error instanceof APIError ? error.code : undefined;

/** The message about a field without its name, which the form shows above it. */
export function problemOf({ field, message }: InvalidRequestError): string {
  return field === undefined ? message : message.slice(field.length + 2);
}

/** An error as a sentence for people. */
export function sentenceOf(error: unknown): string {
  if (error instanceof APIError && error.code === 'rate_limited')
    return 'Too many requests. Try again in a minute.';
  const is_unreached = error instanceof ConnectionError && !(error instanceof TimeoutError);
  if (error instanceof Error && !is_unreached && error.name !== 'TypeError') return error.message;
  return 'The service could not be reached. Check your connection and try again.';
}
