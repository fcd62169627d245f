import {
  AbortedError,
  APIError,
  type CallFacts,
  ConnectionError,
  errorOf,
  PurserError,
  TimeoutError,
} from './errors.ts';
import {
  checkRequestOptions,
  MAX_TIMER_MS,
  type RequestEvent,
  type RequestOptions,
  type Settings,
} from './options.ts';
import { type Shape, shapes } from './shapes.ts';
import { VERSION } from './version.ts';

/** One call of a route. */
export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` for each of `params`. */
  path: string;
  params?: Record<string, string>;
  query?: object | undefined;
  body?: unknown;
  /** A file in place of a body, with its content type. */
  file?: { data: NonNullable<RequestInit['body']>; type: string };
  options?: RequestOptions | undefined;
  /** The route takes an `idempotency-key`: the caller's, or (`true`) one that this call makes. */
  keyed?: true | 'by the caller';
  /** True if an exact repeat is free. True of every GET, PUT, PATCH and DELETE, and of what is `keyed`. */
  repeatable?: boolean;
  /** Required form of the answer. Default: nothing for DELETE, else an object. */
  shape?: Shape;
  /** The answer's body is not JSON and is handed on unread. */
  streamed?: boolean;
  /** The media type to request instead of JSON. */
  accept?: string;
  /** Longer than `timeout` by this, because the service was asked to wait. Milliseconds. */
  extra_ms?: number;
}

/** A successful answer. */
export interface Answer {
  /** As it came; of an answer that was read, with the same text again. */
  response: Response;
  /** The parsed JSON; undefined of an empty body, the response itself of a streamed one. */
  data: unknown;
  requestId: string;
}

const MAX_RETRY_AFTER_MS = 60_000;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8_000;
/** The service asks to come back: whatever the request was, it may be sent again, unless it may have been carried out. */
const COME_BACK = [429, 503];
const OUTCOME_HEADER = 'purser-outcome';
/** Something failed on the way or over there, and the request may have been carried out all the same. */
const TRANSIENT = [408, 500, 502, 504];

/** An id that no other call has. */
export const freshId = () => `sdk_${crypto.randomUUID()}`;

/** `ms`, up to a quarter more or less, so that many clients do not come back at once. */
export const jittered = (ms: number) => ms * (0.75 + Math.random() / 2);

/** Sends requests: keys, time limits, retries, errors. The key is in here and is shown nowhere. */
export class Transport {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** The namespace of idempotency keys: the service and the key. Never shown. */
  nameOf(...parts: string[]): string {
    return [this.#settings.baseURL, this.#settings.apiKey ?? 'session', ...parts].join('\n');
  }

  /** Resolves with the first successful answer; rejects with a `PurserError`, or a `TypeError` before anything is sent. */
  async send(call: Call): Promise<Answer> {
    const { method, options = {} } = call;
    checkRequestOptions(options);
    const path = pathOf(call);
    const idempotencyKey = options.idempotencyKey ?? (call.keyed === true ? freshId() : undefined);
    if (call.keyed !== undefined && idempotencyKey === undefined) {
      throw new TypeError(
        'idempotencyKey is missing: give the payment a name that stays the same on every attempt',
      );
    }
    const requestId = options.requestId ?? freshId();
    const facts = { requestId, idempotencyKey };
    const body = call.file?.data ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    const url = `${this.#settings.baseURL}${path}${queryOf(call.query)}`;
    const headers = this.#headers(options, facts, body !== undefined);
    if (call.file !== undefined) headers.set('content-type', call.file.type);
    if (call.accept !== undefined) headers.set('accept', call.accept);
    const timeout = (options.timeout ?? this.#settings.timeout) + (call.extra_ms ?? 0);
    // A stream can be read only once.
    const retries = body instanceof ReadableStream ? 0 : (options.maxRetries ?? this.#settings.maxRetries);
    const repeatable = method !== 'POST' || call.keyed !== undefined || call.repeatable === true;

    for (let attempt = 1; ; attempt++) {
      const begun = performance.now();
      const tell = (type: RequestEvent['type'], more: Partial<RequestEvent> = {}) =>
        this.#tell({ type, method, path, attempt, request_id: requestId, ...more });
      tell('request');
      try {
        const init = {
          method,
          headers,
          redirect: 'manual',
          ...(this.#settings.apiKey === null ? { credentials: 'same-origin' } : {}),
          ...(body === undefined ? {} : { body }),
          ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
        } as RequestInit;
        const read = (signal: AbortSignal) => this.#attempt(url, { ...init, signal }, call, facts);
        const answer = await limited(read, Math.min(timeout, MAX_TIMER_MS), options.signal, facts);
        tell('response', { status: answer.response.status, duration_ms: performance.now() - begun });
        return answer;
      } catch (error) {
        const duration_ms = performance.now() - begun;
        if (error instanceof APIError) tell('response', { status: error.status, duration_ms });
        const wait_ms = attempt > retries ? null : waitAfter(error, repeatable, attempt);
        if (wait_ms === null) {
          tell('failure', { error, duration_ms });
          throw error;
        }
        tell('retry', { error, wait_ms });
        await sleep(wait_ms, options.signal, facts);
      }
    }
  }

  #headers(options: RequestOptions, facts: CallFacts, with_body: boolean): Headers {
    const headers = new Headers({ ...this.#settings.defaultHeaders, ...options.headers });
    headers.set('accept', 'application/json, */*;q=0.1');
    headers.set('user-agent', `purser-sdk/${VERSION} ${runtime()}`);
    if (this.#settings.apiKey !== null) headers.set('x-api-key', this.#settings.apiKey);
    headers.set('x-request-id', facts.requestId as string);
    if (with_body) headers.set('content-type', 'application/json');
    if (facts.idempotencyKey !== undefined) headers.set('idempotency-key', facts.idempotencyKey);
    return headers;
  }

  async #attempt(url: string, init: RequestInit, call: Call, facts: CallFacts): Promise<Answer> {
    const fetch = this.#settings.fetch;
    const response = await fetch(url, init);
    const { status, headers } = response;
    const requestId = headers.get('x-request-id') ?? (facts.requestId as string);
    if (status < 200 || (status >= 300 && status < 400)) {
      throw new ConnectionError(
        'The address is not the service: it responded with a redirect, which was not followed',
        facts,
      );
    }
    if (status < 300 && call.streamed) return { response, data: response, requestId };
    const text = await response.text();
    if (status >= 400) throw errorOf(response, text, { ...facts, requestId });
    const data = status === 204 ? undefined : parsed(text, facts);
    const { shape = call.method === 'DELETE' ? shapes.nothing : shapes.object } = call;
    if (!shape.holds(data)) {
      throw new ConnectionError(`The response is not ${shape.name}: the server is not Purser`, facts);
    }
    const body = status === 204 ? null : text;
    return { response: new Response(body, response), data, requestId };
  }

  #tell(event: RequestEvent): void {
    try {
      // An async hook that fails would otherwise end the process.
      Promise.resolve(this.#settings.onRequest(event)).catch(() => {});
    } catch {
      // A hook for logs decides nothing about a payment.
    }
  }
}

function parsed(text: string, facts: CallFacts): unknown {
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data === 'object' && data !== null) return data;
  } catch {
    // Told below.
  }
  throw new ConnectionError('The response is not JSON: it is incomplete, or the server is not Purser', facts);
}

/** How long to wait before the next attempt, or null where the error is final. */
function waitAfter(error: unknown, repeatable: boolean, attempt: number): number | null {
  if (error instanceof AbortedError) return null;
  const status = error instanceof APIError ? error.status : 0;
  const told = error instanceof APIError && error.headers.get(OUTCOME_HEADER) === 'unknown';
  const comes_back = COME_BACK.includes(status) && !told;
  const transient = error instanceof ConnectionError || told || TRANSIENT.includes(status);
  if (!comes_back && !(transient && repeatable)) return null;
  const told_ms = error instanceof APIError ? retryAfterMs(error.headers) : null;
  if (told_ms !== null) return told_ms > MAX_RETRY_AFTER_MS ? null : told_ms;
  return jittered(Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1)));
}

function retryAfterMs(headers: Headers): number | null {
  const told = headers.get('retry-after');
  if (told === null) return null;
  if (/^\d+$/.test(told)) return Number(told) * 1000;
  // By the service's clock where it says what that is: ours may be off.
  const wait = Date.parse(told) - (Date.parse(headers.get('date') ?? '') || Date.now());
  return Number.isNaN(wait) ? null : Math.max(0, wait);
}

/** Ends `work` after `timeout` or with the caller's signal, also where `fetch` does not listen to its own. */
async function limited<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timeout: number,
  signal: AbortSignal | undefined,
  facts: CallFacts,
): Promise<T> {
  if (signal?.aborted) throw aborted(signal, facts);
  const controller = new AbortController();
  let end: (error: PurserError) => void = () => {};
  const ended = new Promise<never>((_, reject) => {
    end = (error) => {
      reject(error);
      controller.abort(error);
    };
  });
  const onAbort = () => end(aborted(signal as AbortSignal, facts));
  const timer = setTimeout(() => end(new TimeoutError(`No response within ${timeout} ms`, facts)), timeout);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(controller.signal), ended]);
  } catch (error) {
    if (error instanceof PurserError) throw error;
    throw new ConnectionError('The service could not be reached', { ...facts, cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** The error of a call aborted by this signal. */
export function aborted(signal: AbortSignal, facts: CallFacts = {}): AbortedError {
  return new AbortedError('The call was aborted', { ...facts, cause: signal.reason });
}

/** Waits; rejects with an `AbortedError` when the signal is aborted. */
export function sleep(ms: number, signal: AbortSignal | undefined, facts: CallFacts): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      act();
    };
    const onAbort = () => settle(() => reject(aborted(signal as AbortSignal, facts)));
    const timer = setTimeout(() => settle(resolve), ms);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The name of a card or another instrument; every other parameter of a path is an id or a slug. */
const INSTRUMENT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}:[!#-[\]-~]{1,200}$/;

/** An id never changes which route is called: `..` or an empty text would. */
function pathOf({ path, params = {} }: Call): string {
  return path.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    if (name === 'instrument') {
      if (typeof value !== 'string' || !INSTRUMENT.test(value))
        throw new TypeError('instrument must be "<rail>:<id>" without blanks, quotes and backslashes');
      return encodeURIComponent(value);
    }
    if (typeof value !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(value)) {
      throw new TypeError(`${name} must be an id or a slug: 1 to 64 letters, digits, "_" and "-"`);
    }
    return value;
  });
}

/** A value among several, with a backslash before each comma and backslash in it. */
const escaped = (value: unknown): string => String(value).replace(/[\\,]/g, '\\$&');

function queryOf(query: object | undefined): string {
  if (query === undefined) return '';
  if (typeof query !== 'object' || query === null) throw new TypeError('query must be an object');
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(
    given.map(([name, value]): [string, string] => [
      name,
      Array.isArray(value) ? value.map(escaped).join() : String(value),
    ]),
  ).toString();
  return text === '' ? '' : `?${text}`;
}

function runtime(): string {
  const { process, Deno, Bun } = globalThis as {
    process?: { versions?: { node?: string } };
    Deno?: { version: { deno: string } };
    Bun?: { version: string };
  };
  if (Bun !== undefined) return `bun/${Bun.version.split('.')[0]}`;
  if (Deno !== undefined) return `deno/${Deno.version.deno.split('.')[0]}`;
  const node = process?.versions?.node;
  return node === undefined ? 'web' : `node/${node.split('.')[0]}`;
}
