import { inspect } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Purser, PurserError, type PurserOptions } from '../src/index.ts';
import { fakePurser } from '../src/testing/index.ts';

const KEY = 'sk_secret_of_the_test';
const REQUEST = {
  idempotencyKey: 'order-1',
  action: { type: 'purchase', merchant: 'Hetzner Online', amount_minor: 5440, currency: 'EUR' },
};

afterEach(() => vi.unstubAllEnvs());

/** A client whose every request is counted. */
function counted() {
  const fake = fakePurser();
  const fetch = vi.fn(fake.fetch);
  return { fetch, purser: new Purser({ apiKey: KEY, fetch }) };
}

describe('a client', () => {
  test.each<[string, object]>([
    ['apiKey', { apiKey: '' }],
    ['apiKey', { apiKey: 'sk_with a blank' }],
    ['apiKey', { apiKey: 'sk_with\r\nx-evil: 1' }],
    ['baseURL', { baseURL: 'purser.internal' }],
    ['baseURL', { baseURL: 'ftp://purser.internal' }],
    ['baseURL', { baseURL: 'https://user:password@purser.internal' }],
    ['baseURL', { baseURL: 'https://purser.internal/?key=1' }],
    ['timeout', { timeout: 0 }],
    ['timeout', { timeout: Number.NaN }],
    ['timeout', { timeout: '10' }],
    ['timeout', { timeout: 2 ** 31 }],
    ['maxRetries', { maxRetries: -1 }],
    ['maxRetries', { maxRetries: 1.5 }],
    ['maxRetries', { maxRetries: null }],
    ['fetch', { fetch: 'fetch' }],
    ['defaultHeaders', { defaultHeaders: { 'bad name': 'x' } }],
    ['defaultHeaders', { defaultHeaders: { 'x-a': 1 } }],
    ['onRequest', { onRequest: true }],
    ['allowInsecure', { allowInsecure: 'yes' }],
    ['base_url', { base_url: 'https://purser.internal' }],
    ['baseUrl', { baseUrl: 'https://purser.internal' }],
    ['constructor', { constructor: 1 }],
  ])('refuses a wrong %s with a TypeError that names it: %o', (name, options) => {
    expect(() => new Purser({ apiKey: KEY, ...options } as PurserOptions)).toThrow(TypeError);
    expect(() => new Purser({ apiKey: KEY, ...options } as PurserOptions)).toThrow(name);
  });

  test('takes key and address from the environment, and says what is missing', async () => {
    vi.stubEnv('PURSER_API_KEY', '');
    expect(() => new Purser()).toThrow('PURSER_API_KEY');
    vi.stubEnv('PURSER_API_KEY', KEY);
    vi.stubEnv('PURSER_BASE_URL', 'not a URL');
    expect(() => new Purser()).toThrow('PURSER_BASE_URL');
    vi.stubEnv('PURSER_BASE_URL', 'https://purser.internal/below/');
    const fetch = vi.fn(fakePurser().fetch);
    await new Purser({ fetch }).decisions.retrieve('dec_1').catch(() => {});
    expect(fetch.mock.calls[0]?.[0]).toBe('https://purser.internal/below/v1/decisions/dec_1');
  });

  test('does not send the key in the clear beyond loopback, unless told so', () => {
    const at = (baseURL: string, more = {}) => new Purser({ apiKey: KEY, baseURL, ...more });
    for (const host of ['localhost:8080', '127.0.0.1', '127.8.9.1:1', '[::1]:8080', 'a.localhost']) {
      expect(at(`http://${host}`)).toBeInstanceOf(Purser);
    }
    for (const host of ['purser.internal', '10.0.0.1', '127.0.0.1.evil.example', '0.0.0.0', '[::2]']) {
      expect(() => at(`http://${host}`), host).toThrow(TypeError);
      expect(at(`http://${host}`, { allowInsecure: true })).toBeInstanceOf(Purser);
      expect(at(`https://${host}`)).toBeInstanceOf(Purser);
    }
  });

  test('is refused where there is a page, unless told so', () => {
    vi.stubGlobal('window', {});
    expect(new Purser({ apiKey: KEY })).toBeInstanceOf(Purser);
    vi.stubGlobal('document', {});
    try {
      expect(() => new Purser({ apiKey: KEY })).toThrow('dangerouslyAllowBrowser');
      expect(new Purser({ apiKey: KEY, dangerouslyAllowBrowser: true })).toBeInstanceOf(Purser);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test('in a page of the service the session’s cookie says who asks, and no key is sent or looked for', async () => {
    vi.stubGlobal('window', {});
    vi.stubGlobal('document', {});
    vi.stubEnv('PURSER_API_KEY', KEY);
    try {
      const sent: RequestInit[] = [];
      const fetch = async (_url: unknown, init?: RequestInit) => {
        sent.push(init as RequestInit);
        return Response.json({ role: 'viewer' });
      };
      const baseURL = 'http://console.example';
      const purser = new Purser({ credentials: 'same-origin', baseURL, fetch: fetch as never });
      expect(await purser.me.retrieve()).toEqual({ role: 'viewer' });
      expect(sent[0]?.credentials).toBe('same-origin');
      expect(new Headers(sent[0]?.headers).has('x-api-key')).toBe(false);
      expect(() => new Purser({ credentials: 'same-origin', apiKey: KEY })).toThrow('cannot both be given');
      expect(() => new Purser({ credentials: 'include' as never })).toThrow(
        "credentials must be 'same-origin'",
      );
    } finally {
      vi.unstubAllGlobals();
      vi.unstubAllEnvs();
    }
  });

  test('shows its key neither when it is looked at nor in an error', async () => {
    const refused = async () => new Response('{}', { status: 401 });
    const lost = async () => {
      throw new Error('no route to host');
    };
    for (const fetch of [refused, lost]) {
      const purser = new Purser({ apiKey: KEY, fetch, maxRetries: 0 });
      const error = await purser.spend(REQUEST, async () => ({})).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(PurserError);
      for (const shown of [purser, error, purser.decisions]) {
        expect(inspect(shown, { depth: 10, showHidden: true }) + JSON.stringify(shown)).not.toContain(KEY);
      }
    }
  });

  test('gives another client with other options, and stays as it is', async () => {
    const { fetch, purser } = counted();
    const other = purser.withOptions({ apiKey: 'sk_other' });
    await other.decisions.create(REQUEST_BODY);
    await purser.decisions.create(REQUEST_BODY);
    const keys = fetch.mock.calls.map(([, init]) => new Headers(init?.headers).get('x-api-key'));
    expect(keys).toEqual(['sk_other', KEY]);
  });
});

const { idempotencyKey: _, ...REQUEST_BODY } = REQUEST;

describe('a wrong argument is a TypeError that names it, before anything is sent', () => {
  const pay = async () => ({});
  test.each<[string, (purser: Purser) => Promise<unknown>]>([
    ['idempotencyKey', (purser) => purser.spend(REQUEST_BODY as never, pay)],
    ['idempotencyKey', (purser) => purser.spend({ ...REQUEST, idempotencyKey: '' }, pay)],
    ['idempotencyKey', (purser) => purser.spend({ ...REQUEST, idempotencyKey: 'order 1' }, pay)],
    ['idempotencyKey', (purser) => purser.authorize({ ...REQUEST, idempotencyKey: 'x'.repeat(256) })],
    ['idempotencyKey', (purser) => purser.capabilities.consume({} as never, {} as never)],
    ['action', (purser) => purser.spend({ idempotencyKey: 'a' } as never, pay)],
    ['request', (purser) => purser.spend(undefined as never, pay)],
    ['pay', (purser) => purser.spend(REQUEST, undefined as never)],
    ['adapter', (purser) => purser.spend(REQUEST, pay, { adapter: {} as never })],
    ['waitForReview', (purser) => purser.spend(REQUEST, pay, { waitForReview: -1 })],
    ['waitForReview', (purser) => purser.authorize(REQUEST, { waitForReview: Number.NaN })],
    ['waitForReview', (purser) => purser.authorize(REQUEST, { waitForReview: Number.POSITIVE_INFINITY })],
    ['onUnavailable', (purser) => purser.spend(REQUEST, pay, { onUnavailable: 'pay' as never })],
    ['signal', (purser) => purser.spend(REQUEST, pay, { signal: {} as never })],
    ['waitForReviews', (purser) => purser.spend(REQUEST, pay, { waitForReviews: 1 } as never)],
    ['adapter', (purser) => purser.authorize(REQUEST, { adapter: purser } as never)],
    ['paymentIsIdempotent', (purser) => purser.spend(REQUEST, pay, { paymentIsIdempotent: 1 as never })],
    ['isDefiniteFailure', (purser) => purser.spend(REQUEST, pay, { isDefiniteFailure: true as never })],
    ['id', (purser) => purser.decisions.retrieve('')],
    ['id', (purser) => purser.decisions.retrieve(undefined as never)],
    ['id', (purser) => purser.decisions.retrieve('..')],
    ['id', (purser) => purser.agents.update('a/../b', { status: 'revoked' })],
    ['instrument', (purser) => purser.instruments.assign('card-a', { agent: 'a' })],
    ['instrument', (purser) => purser.instruments.assign('lithic:two words', { agent: 'a' })],
    ['requestId', (purser) => purser.decisions.retrieve('dec_1', { requestId: 'two words' })],
    ['idempotency_key', (purser) => purser.decisions.create(REQUEST_BODY, { idempotency_key: 'a' } as never)],
    ['headers', (purser) => purser.decisions.create(REQUEST_BODY, { headers: { 'x-a': 'a\nb' } })],
  ])('%s', async (name, call) => {
    const { fetch, purser } = counted();
    const error = await call(purser).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toContain(name);
    expect(fetch).not.toHaveBeenCalled();
  });
});

test('the name of an instrument is encoded as one part of the path', async () => {
  const { fetch, purser } = counted();
  await purser.instruments.assign('stripe_issuing:ic_1/..', { agent: 'a' }).catch(() => undefined);
  expect(String(fetch.mock.calls[0]?.[0])).toMatch(/\/v1\/instruments\/stripe_issuing%3Aic_1%2F\.\.$/);
});
