/** Options of a client. */
export interface PurserOptions {
  /** `sk_…`; default `process.env.PURSER_API_KEY`. Sent as `x-api-key`, never logged, never in an error. */
  apiKey?: string | undefined;
  /**
   * In a page of the service itself: the cookie of the person who is signed in says who asks, and there is no key.
   */
  credentials?: 'same-origin' | undefined;
  /** Default `process.env.PURSER_BASE_URL`, else http://127.0.0.1:8080. */
  baseURL?: string | URL | undefined;
  /** Timeout of one attempt, in milliseconds. Default 10 000. */
  timeout?: number | undefined;
  /** After the first attempt. Default 2 (0.5 s × 2ⁿ, at most 8 s, ±25 % jitter; `Retry-After` wins up to 60 s). */
  maxRetries?: number | undefined;
  fetch?: typeof globalThis.fetch | undefined;
  defaultHeaders?: Record<string, string> | undefined;
  /** One call per attempt and per result; no body, no key. What it throws is ignored. */
  onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Refused where `window` and `document` exist unless true: a key in a page is everybody's key. */
  dangerouslyAllowBrowser?: boolean | undefined;
  /** Let the key travel over plain http beyond loopback. Default false. */
  allowInsecure?: boolean | undefined;
}

/** Options of a single call. */
export interface RequestOptions {
  /** 1 to 255 visible ASCII characters. Where the route takes one and none is given, each call makes its own. */
  idempotencyKey?: string | undefined;
  /** Timeout of one attempt, in milliseconds. */
  timeout?: number | undefined;
  maxRetries?: number | undefined;
  /** Aborts the whole call, including retries and waits. */
  signal?: AbortSignal | undefined;
  headers?: Record<string, string> | undefined;
  /** Sent as `x-request-id` with every attempt; without it each call makes its own. */
  requestId?: string | undefined;
}

/** The event passed to `onRequest`. Times in milliseconds. */
export interface RequestEvent {
  type: 'request' | 'response' | 'retry' | 'failure';
  method: string;
  path: string;
  /** 1 for the first. */
  attempt: number;
  status?: number;
  request_id?: string;
  duration_ms?: number;
  wait_ms?: number;
  error?: unknown;
}

/** Options that were checked, with their defaults. */
export interface Settings {
  /** Null: a person's session. */
  readonly apiKey: string | null;
  readonly baseURL: string;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly fetch: typeof globalThis.fetch;
  readonly defaultHeaders: Record<string, string>;
  readonly onRequest: (event: RequestEvent) => void;
}

/** The longest time that timers take. */
export const MAX_TIMER_MS = 2_147_483_647;

type Check = { must: string; holds: (value: never) => boolean };

const milliseconds: Check = {
  must: 'a number of milliseconds above 0',
  holds: (value: number) => typeof value === 'number' && value > 0 && value <= MAX_TIMER_MS,
};
const count: Check = {
  must: 'a whole number from 0 to 100',
  holds: (value: number) => Number.isInteger(value) && value >= 0 && value <= 100,
};
export const flag: Check = { must: 'true or false', holds: (value: unknown) => typeof value === 'boolean' };
export const callback: Check = { must: 'a function', holds: (value: unknown) => typeof value === 'function' };
export const visible: Check = {
  must: '1 to 255 visible ASCII characters',
  holds: (value: unknown) => typeof value === 'string' && /^[!-~]{1,255}$/.test(value),
};
const headers: Check = {
  must: 'an object of header names and texts',
  holds: (value: unknown) =>
    isObject(value) && Object.values(value).every((each) => typeof each === 'string') && isHeaders(value),
};
export const abortSignal: Check = {
  must: 'an AbortSignal',
  holds: (value: AbortSignal) =>
    isObject(value) && typeof value.aborted === 'boolean' && typeof value.addEventListener === 'function',
};

const PURSER_OPTIONS: Record<keyof PurserOptions, Check> = {
  apiKey: visible,
  credentials: { must: "'same-origin', without apiKey", holds: (value: unknown) => value === 'same-origin' },
  baseURL: { must: 'an http or https URL', holds: (value: unknown) => isBaseURL(value) },
  timeout: milliseconds,
  maxRetries: count,
  fetch: callback,
  defaultHeaders: headers,
  onRequest: callback,
  dangerouslyAllowBrowser: flag,
  allowInsecure: flag,
};

const REQUEST_OPTIONS: Record<keyof RequestOptions, Check> = {
  idempotencyKey: visible,
  timeout: milliseconds,
  maxRetries: count,
  signal: abortSignal,
  headers,
  requestId: {
    must: '1 to 128 characters of A-Z, a-z, 0-9 and ._:/+=@-',
    holds: (value: unknown) => typeof value === 'string' && /^[A-Za-z0-9._:/+=@-]{1,128}$/.test(value),
  },
};

/** Returns true if it is an object, and neither an array nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isHeaders(value: object): boolean {
  try {
    new Headers(value as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

function isBaseURL(value: unknown): boolean {
  if (typeof value !== 'string' && !(value instanceof URL)) return false;
  if (!URL.canParse(String(value))) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}

/** Throws a `TypeError` that names the first option that is unknown or wrong. `undefined` counts as left out. */
export function checkOptions(given: unknown, known: Record<string, Check>, what: string): void {
  if (!isObject(given)) throw new TypeError(`${what} must be an object`);
  for (const [name, value] of Object.entries(given)) {
    const check = Object.hasOwn(known, name) ? known[name] : undefined;
    if (check === undefined) {
      throw new TypeError(
        `${what} has no option ${JSON.stringify(name)}; the options are ${Object.keys(known).join(', ')}`,
      );
    }
    if (value !== undefined && !check.holds(value as never)) {
      throw new TypeError(`${name} must be ${check.must}`);
    }
  }
}

/** The same for the options of one call. */
export function checkRequestOptions(options: RequestOptions): void {
  checkOptions(options, REQUEST_OPTIONS, 'The options of a call');
}

/** A client's options with their defaults. Throws a `TypeError` that says what is wrong and what to do. */
export function settingsOf(options: PurserOptions): Settings {
  checkOptions(options, PURSER_OPTIONS, 'Purser');
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const env = process?.env ?? {};
  const apiKey = options.credentials === undefined ? (options.apiKey ?? env.PURSER_API_KEY) : null;
  if (apiKey === null && options.apiKey !== undefined) {
    throw new TypeError('credentials and apiKey cannot both be given');
  }
  if (apiKey === undefined || (apiKey !== null && !visible.holds(apiKey as never))) {
    throw new TypeError('An API key is missing: give apiKey or set PURSER_API_KEY');
  }
  const given = options.baseURL ?? env.PURSER_BASE_URL ?? 'http://127.0.0.1:8080';
  if (!isBaseURL(given)) throw new TypeError('PURSER_BASE_URL must be an http or https URL');
  const url = new URL(given);
  const in_the_clear = url.protocol === 'http:' && !isLoopback(url.hostname);
  if (apiKey !== null && in_the_clear && options.allowInsecure !== true) {
    throw new TypeError(
      `baseURL: the key would be sent unencrypted to ${url.hostname}; use https, or allowInsecure: true`,
    );
  }
  const { window, document } = globalThis as { window?: unknown; document?: unknown };
  const in_browser = window !== undefined && document !== undefined;
  if (apiKey !== null && in_browser && options.dangerouslyAllowBrowser !== true) {
    throw new TypeError(
      'A key in a web page is public: call Purser from a server, or set dangerouslyAllowBrowser',
    );
  }
  return {
    apiKey,
    baseURL: url.origin + url.pathname.replace(/\/+$/, ''),
    timeout: options.timeout ?? 10_000,
    maxRetries: options.maxRetries ?? 2,
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    defaultHeaders: options.defaultHeaders ?? {},
    onRequest: options.onRequest ?? (() => {}),
  };
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
