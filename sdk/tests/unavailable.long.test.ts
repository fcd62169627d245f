import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  APIError,
  Purser,
  PurserUnavailable,
  type SpendOptions,
  type SpendRequest,
  SpendUnfinished,
} from '../src/index.ts';
import { fakePurser } from '../src/testing/index.ts';
import { AUTHORITY, makeKey, type RunningService, startTestService } from './service.ts';

let names = 0;
const request = (): SpendRequest => ({
  idempotencyKey: `away-${++names}`,
  action: { type: 'purchase', merchant: 'Hetzner Online', amount_minor: 5440, currency: 'EUR' },
});
const pay = vi.fn(async () => ({}));
// biome-ignore lint/suspicious/noExplicitAny: results and errors of every shape are looked into.
const caught = (call: Promise<unknown>): Promise<any> =>
  call.then(
    (value) => ({ resolved: value }),
    (error: unknown) => error,
  );

afterEach(() => pay.mockClear());

/** Ways in which there is a server, but no answer of Purser's. `code`: an error of the API that is not about being away. */
const AWAY: [string, (server: Server) => void, { error?: string }][] = [
  ['closes every connection', (server) => server.on('connection', (socket) => socket.destroy()), {}],
  ['never answers', (server) => server.on('request', () => {}), {}],
  ['answers 500', answer(500, '{"error":{"code":"internal_error","message":"m","request_id":"r"}}'), {}],
  ['answers 503', answer(503, '{"error":{"code":"unavailable","message":"m","request_id":"r"}}'), {}],
  ['answers 502 in words of its own', answer(502, '<html>Bad Gateway'), {}],
  [
    'answers half a decision',
    (server) =>
      server.on('request', (_, reply) => {
        reply.writeHead(201, { 'content-length': 500 }).write('{"decision_id":"dec_01');
        setTimeout(() => reply.destroy(), 5);
      }),
    {},
  ],
  ['answers half a JSON', answer(201, '{"decision_id":"dec_01'), {}],
  ['is another one, with pages', answer(200, '<html>Welcome to nginx'), {}],
  ['is another one, with JSON', answer(200, '{"status":"ok"}'), {}],
  [
    'is another one, that has all of it',
    answer(201, '{"decision_id":"dec_1","effective_decision":"ALLOW"}'),
    {},
  ],
  ['is another one, that has no such page', answer(404, '<html>404'), { error: 'unexpected_response' }],
  [
    'redirects',
    (server) =>
      server.on('request', (_, reply) => reply.writeHead(307, { location: 'https://evil.example' }).end()),
    {},
  ],
  [
    'answers 429',
    answer(429, '{"error":{"code":"rate_limited","message":"m","request_id":"r"}}', { 'retry-after': '0' }),
    { error: 'rate_limited' },
  ],
  [
    'answers 401',
    answer(401, '{"error":{"code":"unauthenticated","message":"m","request_id":"r"}}'),
    { error: 'unauthenticated' },
  ],
  [
    'answers 403',
    answer(403, '{"error":{"code":"agent_not_active","message":"m","request_id":"r"}}'),
    { error: 'agent_not_active' },
  ],
];

function answer(status: number, text: string, headers: Record<string, string> = {}) {
  return (server: Server) => server.on('request', (_, reply) => reply.writeHead(status, headers).end(text));
}

// Side by side, since each waits for its second attempt.
describe.concurrent.each(AWAY)('a service that %s', (_, breakServer, { error: code }) => {
  let server: Server;
  let purser: Purser;
  beforeAll(async () => {
    server = createServer();
    breakServer(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    purser = new Purser({
      apiKey: 'sk_test',
      baseURL: `http://127.0.0.1:${port}`,
      timeout: 300,
      maxRetries: 1,
    });
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test('is paid nothing under, and what it is, is told', async () => {
    const pay = vi.fn(async () => ({}));
    for (const error of [
      await caught(purser.spend(request(), pay)),
      await caught(purser.authorize(request())),
    ]) {
      if (code === undefined) expect(error).toBeInstanceOf(PurserUnavailable);
      else expect(error).toMatchObject({ code });
      expect(error.cause === undefined).toBe(code !== undefined);
    }
    expect(pay).not.toHaveBeenCalled();
  });

  test(
    code === undefined
      ? 'is paid under when the caller says so'
      : 'is paid nothing under, whatever the caller says',
    async () => {
      const pay = vi.fn(async () => ({}));
      const order = request();
      const asked = vi.fn(async (): Promise<'pay'> => 'pay');
      const result = await caught(purser.spend(order, pay, { onUnavailable: asked }));
      if (code !== undefined)
        return expect([result.code, pay.mock.calls.length, asked.mock.calls.length]).toEqual([code, 0, 0]);
      expect(asked).toHaveBeenCalledWith(expect.any(PurserUnavailable), order);
      expect(result.resolved).toEqual({ status: 'unguarded', decision: null, payment: {}, outcome: null });
    },
  );

  test('is paid nothing under for an agent that this process has not seen in SHADOW', async () => {
    const pay = vi.fn(async () => ({}));
    await caught(purser.spend(request(), pay, { onUnavailable: 'pay_if_shadow' }));
    expect(pay).not.toHaveBeenCalled();
  });
});

describe('onUnavailable', () => {
  /** A client of a fake that can be switched off. */
  function switchable(mode: 'SHADOW' | 'ENFORCE') {
    const fake = fakePurser({ mode });
    const state = { off: false };
    const fetch = (async (url: string, init: RequestInit) => {
      if (state.off) throw new TypeError('fetch failed');
      return fake.fetch(url, init);
    }) as typeof globalThis.fetch;
    const purser = new Purser({ apiKey: `sk_${++names}`, fetch, maxRetries: 0 });
    return { fake, purser, state };
  }
  const shadow: SpendOptions = { onUnavailable: 'pay_if_shadow' };

  test('pay_if_shadow pays while the agent was seen in SHADOW within the hour', async () => {
    vi.useFakeTimers();
    try {
      const { purser, state } = switchable('SHADOW');
      await purser.spend(request(), pay);
      state.off = true;
      vi.advanceTimersByTime(3_599_000);
      expect((await purser.spend(request(), pay, shadow)).status).toBe('unguarded');
      expect(await caught(purser.spend({ ...request(), agent: 'another' }, pay, shadow))).toBeInstanceOf(
        PurserUnavailable,
      );
      vi.advanceTimersByTime(2_000);
      expect(await caught(purser.spend(request(), pay, shadow))).toBeInstanceOf(PurserUnavailable);
    } finally {
      vi.useRealTimers();
    }
  });

  test('pay_if_shadow does not pay for an agent in ENFORCE, nor for one that went there', async () => {
    const { fake, purser, state } = switchable('ENFORCE');
    await purser.spend(request(), pay);
    state.off = true;
    expect(await caught(purser.spend(request(), pay, shadow))).toBeInstanceOf(PurserUnavailable);
    state.off = false;
    fake.decide({ decision: 'ALLOW', mode: 'SHADOW' });
    await purser.spend(request(), pay);
    fake.decide({ decision: 'ALLOW', mode: 'ENFORCE' });
    await purser.spend(request(), pay);
    state.off = true;
    expect(await caught(purser.spend(request(), pay, shadow))).toBeInstanceOf(PurserUnavailable);
  });

  test('pays one name once in a process, whether Purser comes back or not', async () => {
    const { purser, state } = switchable('SHADOW');
    const order = request();
    state.off = true;
    const options: SpendOptions = { onUnavailable: () => 'pay' };
    const calls = Array.from({ length: 50 }, () => caught(purser.spend(order, pay, options)));
    const ended = (await Promise.all(calls)).map((result) => result.resolved?.status ?? result.name);
    expect(ended.sort()).toEqual([...Array(49).fill('PurserUnavailable'), 'unguarded']);
    state.off = false;
    expect(await caught(purser.spend(order, pay, options))).toBeInstanceOf(SpendUnfinished);
    expect(await caught(purser.spend(order, pay, { paymentIsIdempotent: true }))).toBeInstanceOf(
      SpendUnfinished,
    );
    expect(pay).toHaveBeenCalledTimes(1);
  });

  test('does not pay what this process has paid, or begun to pay, while Purser was there', async () => {
    const { purser, state } = switchable('SHADOW');
    const order = request();
    await purser.spend(order, pay);
    state.off = true;
    expect(await caught(purser.spend(order, pay, { onUnavailable: () => 'pay' }))).toBeInstanceOf(
      PurserUnavailable,
    );
    expect(pay).toHaveBeenCalledTimes(1);
  });

  test('pays no amount and no currency that Purser itself would refuse', async () => {
    const { purser, state } = switchable('SHADOW');
    state.off = true;
    for (const odd of [
      { amount_minor: '5440' },
      { amount_minor: -1 },
      { amount_minor: 0 },
      { currency: ['EUR'] },
    ]) {
      const order = request();
      const asked = { ...order, action: { ...order.action, ...odd } } as never;
      expect(await caught(purser.spend(asked, pay, { onUnavailable: () => 'pay' }))).toBeInstanceOf(
        PurserUnavailable,
      );
    }
    expect(pay).not.toHaveBeenCalled();
  });

  test('what an unguarded payment throws is thrown as it is', async () => {
    const { purser, state } = switchable('SHADOW');
    state.off = true;
    const cause = new Error('no answer from the bank');
    const options: SpendOptions = { onUnavailable: () => 'pay' };
    expect(await caught(purser.spend(request(), () => Promise.reject(cause), options))).toBe(cause);
  });

  test('a function that throws, or gives anything but pay, pays nothing', async () => {
    const { purser, state } = switchable('SHADOW');
    state.off = true;
    const unknown: SpendOptions = { onUnavailable: async () => 'perhaps' };
    expect(await caught(purser.spend(request(), pay, unknown))).toBeInstanceOf(PurserUnavailable);
    expect(
      await caught(purser.spend(request(), pay, { onUnavailable: async () => 'refuse' })),
    ).toBeInstanceOf(PurserUnavailable);
    const options: SpendOptions = { onUnavailable: () => Promise.reject(new Error('undecided')) };
    expect((await caught(purser.spend(request(), pay, options))).message).toBe('undecided');
    expect(pay).not.toHaveBeenCalled();
  });
});

describe('a clock that is off by ten minutes', () => {
  let s: RunningService;
  beforeAll(async () => {
    s = await startTestService();
  });
  afterAll(async () => {
    vi.useRealTimers();
    await s.stop();
  });

  test.each([-600_000, 600_000])('%i ms: asks, pays and reports as ever', async (off_ms) => {
    vi.setSystemTime(vi.getRealSystemTime() + off_ms);
    const admin = new Purser({ apiKey: s.admin_key, baseURL: s.url });
    const agent = await admin.agents.create({
      slug: `clock-${++names}`,
      mode: 'ENFORCE',
      authority: AUTHORITY,
    });
    const purser = admin.withOptions({ apiKey: (await makeKey(s, { agent_id: agent.id })).key });
    const adapter = admin.withOptions({ apiKey: (await makeKey(s, { scopes: ['consume'] })).key });
    const spent = await purser.spend(request(), pay, { adapter });
    expect([spent.status, spent.outcome?.type]).toEqual(['paid', 'SPEND_EXECUTED']);
    // A time of the payment that the service cannot believe loses the report, not the payment.
    const onUnreported = vi.fn();
    const dated = async () => ({ occurred_at: new Date().toISOString() });
    const other = await purser.spend(request(), dated, { adapter, onUnreported });
    expect(other.status).toBe('paid');
    if (off_ms > 0) {
      expect(APIError.is(onUnreported.mock.calls[0]?.[0].error, 'invalid_request')).toBe(true);
      expect(onUnreported.mock.calls[0]?.[0].error.field).toBe('occurred_at');
    }
  });
});
