import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  AbortedError,
  APIError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  PermissionError,
  Purser,
  type PurserOptions,
  RateLimitError,
  type RequestEvent,
  TimeoutError,
  VERSION,
} from '../src/index.ts';
import { ANSWER, success } from './answers.ts';

const KEY = 'sk_secret_of_the_test';
type Step = Response | Error | 'hangs' | ((init: RequestInit) => Response);
let events: RequestEvent[];

const failure =
  (status: number, code = 'unavailable', headers: Record<string, string> = {}) =>
  () =>
    Response.json(
      { error: { code, message: 'field: what was wrong', request_id: 'req_1' } },
      { status, headers },
    );
const ok = (body?: unknown) => (init: RequestInit) => success(init, body);

/** A client whose service answers in these steps, the last one for ever. */
function scripted(steps: Step[], options: PurserOptions = {}) {
  const sent: { url: string; init: RequestInit; headers: Headers }[] = [];
  const fetch = (async (url: string, init: RequestInit) => {
    sent.push({ url, init, headers: new Headers(init.headers) });
    const step = steps.length > 1 ? (steps.shift() as Step) : (steps[0] as Step);
    if (step === 'hangs') return new Promise(() => {});
    if (step instanceof Error) throw step;
    return typeof step === 'function' ? step(init) : step;
  }) as typeof globalThis.fetch;
  const purser = new Purser({ apiKey: KEY, fetch, onRequest: (event) => events.push(event), ...options });
  return { purser, sent };
}

/** Waits for the call while the clock runs; gives the error or the result. */
async function settled<T>(call: Promise<T>): Promise<T | Error> {
  const caught = call.catch((error: Error) => error);
  await vi.runAllTimersAsync();
  return caught;
}
const waits = () => events.filter((event) => event.type === 'retry').map((event) => event.wait_ms as number);

beforeEach(() => {
  events = [];
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

const LOST = new TypeError('fetch failed');
const SAFE: [string, (purser: Purser) => Promise<unknown>][] = [
  ['GET', (purser) => purser.decisions.retrieve('dec_1')],
  ['a list', (purser) => purser.decisions.list()],
  ['DELETE', (purser) => purser.apiKeys.delete('key_1')],
  ['PATCH', (purser) => purser.agents.update('bot', { status: 'paused' })],
  ['a decision', (purser) => purser.decisions.create({} as never)],
  ['a consumption', (purser) => purser.capabilities.consume({} as never, { idempotencyKey: 'pay-1' })],
  ['an outcome', (purser) => purser.decisions.reportOutcome('dec_1', { type: 'SPEND_FAILED' })],
];
const UNSAFE: [string, (purser: Purser) => Promise<unknown>][] = [
  ['a review', (purser) => purser.decisions.review('dec_1', { action: 'ALLOW', reason_code: 'OK' })],
  ['a label', (purser) => purser.decisions.label('dec_1', { label: 'PURPOSE_ALIGNED' })],
  ['a new agent', (purser) => purser.agents.create({ slug: 'bot' })],
  ['a new authority', (purser) => purser.agents.authority.set('bot', {} as never)],
  ['a new key', (purser) => purser.apiKeys.create({ name: 'k' })],
  ['a new endpoint', (purser) => purser.webhookEndpoints.create({ url: 'https://a.example' })],
  ['a new secret', (purser) => purser.webhookEndpoints.rotateSecret('wh_1')],
  ['a test delivery', (purser) => purser.webhookEndpoints.test('wh_1')],
  ['a replay', (purser) => purser.webhookDeliveries.replay('wh_1', { event_id: 'evt_1' })],
];

describe('retries', () => {
  const LOSSES: [string, Step][] = [
    ['a lost connection', LOST],
    ['no answer in time', 'hangs'],
    ['half an answer', () => new Response('{"decision_id": "de', { status: 200 })],
    ['408', failure(408)],
    ['500', failure(500)],
    ['502', () => new Response('<html>', { status: 502 })],
    ['504', failure(504)],
  ];
  describe.each(LOSSES)('after %s', (_, step) => {
    test.each(SAFE)('%s is sent again, twice', async (_name, call) => {
      const { purser, sent } = scripted([step]);
      expect(await settled(call(purser))).toBeInstanceOf(Error);
      expect(sent).toHaveLength(3);
    });
    test.each(UNSAFE)('%s is not sent again: a repeat is not safe', async (_name, call) => {
      const { purser, sent } = scripted([step]);
      expect(await settled(call(purser))).toBeInstanceOf(Error);
      expect(sent).toHaveLength(1);
    });
  });

  const unknown = failure(503, 'unavailable', { 'purser-outcome': 'unknown', 'retry-after': '1' });
  test.each(UNSAFE)(
    '%s is not sent again after a 503 that leaves open what became of it',
    async (_name, call) => {
      const { purser, sent } = scripted([unknown, ok()]);
      expect(await settled(call(purser))).toMatchObject({ status: 503 });
      expect(sent).toHaveLength(1);
    },
  );
  test.each(SAFE)('%s is sent again after such a 503', async (_name, call) => {
    const { purser, sent } = scripted([unknown, ok()]);
    await settled(call(purser));
    expect(sent).toHaveLength(2);
  });

  test.each([...SAFE, ...UNSAFE])('%s is sent again after 429 and 503', async (_name, call) => {
    const { purser, sent } = scripted([
      failure(429, 'rate_limited', { 'retry-after': '1' }),
      failure(503),
      ok(),
    ]);
    await settled(call(purser));
    expect(sent).toHaveLength(3);
  });

  test.each([400, 401, 403, 404, 409, 422])('nothing is sent again after %i', async (status) => {
    for (const [, call] of SAFE) {
      const { purser, sent } = scripted([failure(status, 'idempotency_conflict')]);
      expect(await settled(call(purser))).toBeInstanceOf(APIError);
      expect(sent).toHaveLength(1);
    }
  });

  test('keep one idempotency key and one request id, which the error tells', async () => {
    const { purser, sent } = scripted([LOST]);
    const error = (await settled(purser.decisions.create({} as never))) as ConnectionError;
    const told = (name: string) => new Set(sent.map(({ headers }) => headers.get(name)));
    expect([...told('idempotency-key')]).toEqual([error.idempotencyKey]);
    expect([...told('x-request-id')]).toEqual([error.requestId]);
    const { purser: again, sent: sent_again } = scripted([ok()]);
    await again.decisions.create({} as never);
    expect(sent_again[0]?.headers.get('idempotency-key')).not.toBe(error.idempotencyKey);
  });

  test('wait 0.5 s × 2ⁿ, at most 8 s, a quarter more or less', async () => {
    const { purser } = scripted([LOST], { maxRetries: 7 });
    await settled(purser.decisions.retrieve('dec_1'));
    const expected = [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000];
    expect(waits()).toHaveLength(7);
    waits().forEach((wait_ms, i) => {
      expect(wait_ms / (expected[i] as number)).toBeGreaterThanOrEqual(0.75);
      expect(wait_ms / (expected[i] as number)).toBeLessThanOrEqual(1.25);
    });
  });

  test('wait as long as Retry-After says, in seconds or as a moment by the service’s own clock', async () => {
    const date = 'Sun, 22 Nov 2026 08:00:00 GMT';
    vi.setSystemTime(new Date('2026-11-22T08:10:00Z'));
    const moment = { date, 'retry-after': 'Sun, 22 Nov 2026 08:00:07 GMT' };
    const { purser } = scripted([
      failure(503, 'unavailable', { 'retry-after': '60' }),
      failure(503, 'unavailable', moment),
      ok(),
    ]);
    await settled(purser.decisions.retrieve('dec_1'));
    expect(waits()).toEqual([60_000, 7_000]);
  });

  test('end at once where Retry-After is over 60 s', async () => {
    const { purser, sent } = scripted([failure(429, 'rate_limited', { 'retry-after': '61' })]);
    const error = (await settled(purser.decisions.retrieve('dec_1'))) as RateLimitError;
    expect([error.retryAfter, sent.length]).toEqual([61, 1]);
  });

  test('are as many as the client or the call says', async () => {
    const { purser, sent } = scripted([LOST], { maxRetries: 1 });
    await settled(purser.decisions.retrieve('dec_1'));
    expect(sent).toHaveLength(2);
    await settled(purser.decisions.retrieve('dec_1', { maxRetries: 0 }));
    expect(sent).toHaveLength(3);
  });
});

describe('time limits and signals', () => {
  test('each attempt has the whole timeout, also where fetch does not listen', async () => {
    const { purser, sent } = scripted(['hangs'], { timeout: 1_000 });
    const error = await settled(purser.decisions.retrieve('dec_1', { timeout: 250 }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(sent).toHaveLength(3);
    const durations = events.filter((event) => event.type === 'failure').map((event) => event.duration_ms);
    expect(durations).toEqual([250]);
    expect(sent.every(({ init }) => init.signal?.aborted)).toBe(true);
  });

  test('a body that never ends counts as no answer', async () => {
    const endless = () => new Response(new ReadableStream({ start: (to) => to.enqueue(new Uint8Array(1)) }));
    const { purser } = scripted([endless], { timeout: 500, maxRetries: 0 });
    expect(await settled(purser.decisions.retrieve('dec_1'))).toBeInstanceOf(TimeoutError);
  });

  test.each<[string, number]>([
    ['before the first attempt', 0],
    ['during an attempt', 5],
    ['while waiting for the next', 1_200],
  ])('an aborted signal ends the call %s', async (_, after_ms) => {
    const { purser, sent } = scripted(['hangs'], { timeout: 1_000 });
    const controller = new AbortController();
    if (after_ms === 0) controller.abort('enough');
    else setTimeout(() => controller.abort('enough'), after_ms);
    const error = (await settled(
      purser.decisions.retrieve('dec_1', { signal: controller.signal }),
    )) as AbortedError;
    expect(error).toBeInstanceOf(AbortedError);
    expect(error.cause).toBe('enough');
    expect(sent).toHaveLength(after_ms === 0 ? 0 : 1);
  });

  test('a signal that lives on keeps nothing of calls that have ended', async () => {
    const { purser } = scripted([ok()]);
    const controller = new AbortController();
    const added = vi.spyOn(controller.signal, 'addEventListener');
    const removed = vi.spyOn(controller.signal, 'removeEventListener');
    for (let i = 0; i < 5; i++) await purser.decisions.retrieve('dec_1', { signal: controller.signal });
    expect(removed.mock.calls.length).toBe(added.mock.calls.length);
  });
});

describe('answers', () => {
  test.each([
    [400, 'invalid_request', InvalidRequestError],
    [401, 'unauthenticated', AuthenticationError],
    [403, 'insufficient_scope', PermissionError],
    [404, 'not_found', APIError],
    [409, 'capability_used', ConflictError],
    [422, 'payee_mismatch', APIError],
    [429, 'rate_limited', RateLimitError],
    [500, 'internal_error', APIError],
  ] as const)('%i becomes an error by its status and code', async (status, code, Class) => {
    const { purser } = scripted([failure(status, code, { 'x-request-id': 'req_told' })], { maxRetries: 0 });
    const error = (await settled(purser.decisions.retrieve('dec_1'))) as APIError;
    expect(error).toBeInstanceOf(Class);
    expect(error.name).toBe(Class.name);
    expect([error.status, error.code, error.requestId]).toEqual([status, code, 'req_told']);
    expect(APIError.is(error, code)).toBe(true);
    expect(APIError.is(error, 'agent_exists')).toBe(false);
    expect(error.retryable).toBe(status === 429 || status >= 500);
    if (error instanceof InvalidRequestError) expect(error.field).toBe('field');
  });

  test('the key never travels on: a redirect is not followed', async () => {
    for (const status of [301, 302, 307, 308]) {
      const moved = () => new Response(null, { status, headers: { location: 'https://evil.example/' } });
      const { purser, sent } = scripted([moved], { maxRetries: 0 });
      expect(await settled(purser.decisions.retrieve('dec_1'))).toBeInstanceOf(ConnectionError);
      expect(sent.map(({ init }) => init.redirect)).toEqual(['manual']);
    }
  });

  test.each<[string, () => Response]>([
    ['a page', () => new Response('<html>Welcome', { status: 200 })],
    ['a text', () => Response.json('hello')],
    ['nothing', () => new Response('', { status: 200 })],
    ['a list', () => Response.json([ANSWER])],
    ['an object of its own', () => Response.json({ status: 'ok' })],
    ['an response without a body', () => new Response(null, { status: 204 })],
  ])('another server on the port that answers with %s is no service', async (_, step) => {
    const { purser } = scripted([step], { maxRetries: 0 });
    expect(await settled(purser.decisions.retrieve('dec_1'))).toBeInstanceOf(ConnectionError);
  });

  const CALLS: [string, (purser: Purser) => Promise<unknown>, unknown][] = [
    ['a decision', (purser) => purser.decisions.retrieve('dec_1'), ANSWER],
    ['a new decision', (purser) => purser.decisions.create({} as never), ANSWER],
    ['a consumption', (purser) => purser.capabilities.consume({} as never, { idempotencyKey: 'p' }), ANSWER],
    ['an outcome', (purser) => purser.decisions.reportOutcome('dec_1', { type: 'SPEND_FAILED' }), ANSWER],
    ['a list', (purser) => purser.decisions.list(), { data: [ANSWER], next_cursor: null }],
    ['an agent', (purser) => purser.agents.retrieve('bot'), { id: 'agt_1' }],
  ];
  test.each(CALLS)('%s of another shape is an error and never a result', async (_, call, right) => {
    const others = [[right], [], null, 'text', 7, true, { data: right }, { error: { code: 'not_found' } }];
    for (const other of others.filter((each) => right !== each)) {
      const is_object = typeof other === 'object' && other !== null && !Array.isArray(other);
      // Of what the client does not reason from, it checks that it is an object.
      if (is_object && 'id' in (right as object)) continue;
      const { purser } = scripted([() => Response.json(other)], { maxRetries: 0 });
      expect([other, await settled(call(purser))]).toEqual([other, expect.any(ConnectionError)]);
    }
    const { purser } = scripted([() => Response.json(right)], { maxRetries: 0 });
    expect(await settled(call(purser))).not.toBeInstanceOf(Error);
  });

  test('a decision with one field of another type is an error and never a result', async () => {
    const capability = { status: 'ISSUED', payee_id: null, max_amount_minor: 1, currency: 'EUR', token: 't' };
    const right = { ...ANSWER, effective_decision: 'ALLOW', authorized_amount_minor: 1, capability };
    const fields = Object.keys(right).filter(
      (each) => !['status', 'amount_minor', 'outcome_id', 'type', 'data', 'next_cursor'].includes(each),
    );
    const wrong = fields.flatMap((field) =>
      [undefined, [], {}, 1.5, -1, 'ELSE', true].map((value) => ({ ...right, [field]: value })),
    );
    const of_capability = Object.keys(capability).flatMap((field) =>
      [[], {}, 1.5, true, ''].map((value) => ({ ...right, capability: { ...capability, [field]: value } })),
    );
    for (const each of [...wrong, ...of_capability]) {
      if (each.review_state === 'ELSE') continue;
      const { purser } = scripted([() => Response.json(each)], { maxRetries: 0 });
      const answer = await settled(purser.decisions.retrieve('dec_1'));
      expect([each, answer]).toEqual([each, expect.any(ConnectionError)]);
    }
    const { purser } = scripted([() => Response.json(right)]);
    expect(await purser.decisions.retrieve('dec_1')).toEqual(right);
  });

  test('another server that refuses in its own words is an error without a code of ours', async () => {
    const { purser } = scripted([() => new Response('no such page', { status: 404 })]);
    const error = (await settled(purser.decisions.retrieve('dec_1'))) as APIError;
    expect([error.status, error.code]).toEqual([404, 'unexpected_response']);
  });

  test('an empty answer is undefined', async () => {
    const { purser } = scripted([() => new Response(null, { status: 204 })]);
    expect(await purser.apiKeys.delete('key_1')).toBeUndefined();
  });

  test('can be had raw, with the request id and whether it was a replay', async () => {
    const headers = { 'x-request-id': 'req_told', 'idempotent-replay': 'true' };
    const replay = () => Response.json(ANSWER, { headers });
    const { purser } = scripted([replay]);
    const { data, response, requestId, replayed } = await purser.decisions.create({} as never).withResponse();
    expect([data.decision_id, response.status, requestId, replayed]).toEqual([
      'dec_1',
      200,
      'req_told',
      true,
    ]);
    const raw = await purser.decisions.create({} as never).asResponse();
    expect(await raw.json()).toEqual(ANSWER);
  });

  test('a failed call is seen on one promise, whichever the caller takes', async () => {
    vi.useRealTimers();
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const { purser } = scripted([failure(401, 'unauthenticated')]);
    await expect(purser.decisions.retrieve('dec_1').withResponse()).rejects.toThrow(AuthenticationError);
    await expect(purser.decisions.retrieve('dec_1').asResponse()).rejects.toThrow(AuthenticationError);
    await expect(purser.decisions.retrieve('dec_1')).rejects.toThrow(AuthenticationError);
    await expect(purser.decisions.retrieve('dec_1').finally(() => {})).rejects.toThrow(AuthenticationError);
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe('what is told and sent', () => {
  test('onRequest hears of every attempt and result, without key or body', async () => {
    const { purser } = scripted([LOST, failure(503), ok()]);
    await settled(purser.decisions.create({ task: 'the body' } as never, { requestId: 'mine' }));
    expect(events.map(({ type, attempt, status }) => [type, attempt, status])).toEqual([
      ['request', 1, undefined],
      ['retry', 1, undefined],
      ['request', 2, undefined],
      ['response', 2, 503],
      ['retry', 2, undefined],
      ['request', 3, undefined],
      ['response', 3, 200],
    ]);
    expect(events.every((event) => event.request_id === 'mine' && event.path === '/v1/decisions')).toBe(true);
    expect(JSON.stringify(events)).not.toMatch(/sk_|the body/);
  });

  test('a hook that throws or rejects disturbs nothing', async () => {
    for (const onRequest of [
      () => {
        throw new Error('the log is full');
      },
      async () => {
        throw new Error('the log is full');
      },
    ]) {
      const { purser } = scripted([ok()], { onRequest });
      expect(await purser.decisions.retrieve('dec_1')).toEqual(ANSWER);
    }
  });

  test('own headers go along and cannot replace the key, the request id or the idempotency key', async () => {
    const taken = { 'X-API-Key': 'other', 'x-request-id': 'other', 'idempotency-key': 'other' };
    const { purser, sent } = scripted([ok()], { defaultHeaders: { traceparent: '00-a', ...taken } });
    await purser.decisions.create({} as never, { headers: { 'x-team': 'infra', ...taken } });
    const headers = sent[0]?.headers as Headers;
    expect([headers.get('traceparent'), headers.get('x-team')]).toEqual(['00-a', 'infra']);
    expect(headers.get('x-api-key')).toBe(KEY);
    expect(headers.get('x-request-id')).not.toBe('other');
    expect(headers.get('idempotency-key')).not.toBe('other');
    expect(headers.get('user-agent')).toMatch(new RegExp(`^purser-sdk/${VERSION} node/\\d+$`));
  });

  test('a route without a method of its own is called by its path, and fails as others do', async () => {
    const { purser, sent } = scripted([failure(401, 'unauthenticated')]);
    const error = await settled(
      purser.request('POST', '/v1/auth/sign-in', { query: { a: 1 }, body: { email: 'a@example.com' } }),
    );
    expect(error).toMatchObject({ status: 401, code: 'unauthenticated', requestId: expect.any(String) });
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(sent.map(({ url, init }) => [new URL(url).pathname + new URL(url).search, init.body])).toEqual([
      ['/v1/auth/sign-in?a=1', '{"email":"a@example.com"}'],
    ]);
  });

  test('undefined query parameters are left out, others are sent as text', async () => {
    const { purser, sent } = scripted([ok({ data: [], next_cursor: null })]);
    await purser.decisions.list({ agent: undefined, q: 'a&b', reviewed: false, limit: 2 });
    expect(new URL(sent[0]?.url as string).search).toBe('?q=a%26b&reviewed=false&limit=2');
    await purser.decisions.list({ label: ['customer:Doe, John', 'team:a\\b'] });
    expect(new URL(sent[1]?.url as string).searchParams.get('label')).toBe(
      'customer:Doe\\, John,team:a\\\\b',
    );
  });
});
