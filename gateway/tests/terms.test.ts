import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { until } from '../../server/tests/support/until.ts';
import { ask, calling, PRICES } from './support/gateway.ts';
import { gatewayTest } from './support/gateway-test.ts';

const t = gatewayTest({ monthly_budget_minor: 1_000 }, { LEASE_IDLE_SECONDS: '600' });

const chat = (url: string, wish: object, more: Record<string, unknown> = {}) =>
  ask(url, '/v1/chat/completions', calling(wish, { max_tokens: 3_000, ...more }));
/** Lays this over the authority that the gateway sees. */
const setTerms = (terms: object) => void Object.assign(t.purser.agent.authority as object, terms);
const pricesShown = async () =>
  (await (await fetch(`${t.gateway.url}/gateway/prices`)).json()) as {
    hash: string;
    models: { provider: string }[];
  };
const errorOf = ({ text }: { text: string }) => JSON.parse(text).error;

describe('a lease', () => {
  test('is requested and returned as the contract has it', async () => {
    const answer = await chat(t.gateway.url, { output: 30 });
    expect(answer.status, answer.text).toBe(200);
    const [{ key, ...opened }] = t.records('lease');
    const [first] = t.gateway.journal().split('\n');
    const { id } = JSON.parse(first as string);
    expect(key).toBe(`${id}-1`);
    const { hash } = await pricesShown();
    const [{ request: asked }] = t.records('ask');
    expect(asked).toEqual({
      idempotencyKey: key,
      action: {
        type: 'model_usage',
        merchant: 'OpenAI',
        payee_id: 'model:openai',
        amount_minor: 4,
        currency: 'USD',
        description: 'Model calls',
      },
      limitable: true,
      min_amount_minor: 1,
      context: { lease: { gateway: id, prices: hash, seconds: 300 } },
    });
    await t.gateway.stop();
    expect(t.purser.fake.outcomes).toMatchObject([
      {
        decision_id: opened.decision_id,
        type: 'SPEND_EXECUTED',
        amount_minor: 1,
        source: 'PAYMENT_RAIL',
        external_reference: key,
      },
    ]);
  });

  test('is at most what may be spent at once without a person, and more leases follow', async () => {
    setTerms({ per_transaction_limit_minor: 3, review_threshold_minor: 2 });
    expect((await chat(t.gateway.url, { output: 3_000 })).status).toBe(200);
    expect(t.records('lease').map(({ amount_minor }) => amount_minor)).toEqual([2, 2]);
  });

  test('has headroom for an agent that spends, up to LEASE_MINOR', async () => {
    const gateway = await t.another({ LEASE_MINOR: '5' });
    for (let i = 0; i < 3; i++) await chat(gateway.url, { output: 3_000 });
    // Each call is bounded at 4 cents and costs 3; the rest of the first lease is drawn on first.
    const asked = t.purser.fake.decisions.map(({ requested_amount_minor }) => requested_amount_minor);
    expect(asked.slice(0, 2)).toEqual([4, 3 + 5]);
  });

  test('that is too old takes no more calls, and a new authority has a purse of its own', async () => {
    const gateway = await t.another({ LEASE_SECONDS: '1', LEASE_IDLE_SECONDS: '600', CHECK_SECONDS: '1' });
    const decision = async () =>
      (await chat(gateway.url, { output: 1 }, { max_tokens: 9 })).headers.get('x-purser-decision');
    const first = await decision();
    setTerms({ hash: 'sha256:2' });
    await until(async () => (await decision()) !== first);
    const purses = gateway
      .journal()
      .split('\n')
      .filter((line) => line.includes('"t":"purse"'));
    expect(new Set(purses.map((line) => JSON.parse(line).authority))).toEqual(
      new Set(['sha256:1', 'sha256:2']),
    );
    await until(() => t.purser.fake.outcomes.some(({ decision_id }) => decision_id === first));
  });
});

describe('a call that the budget is too small for', () => {
  test('waits its turn while another is in flight, and is made once that leaves something', async () => {
    setTerms({ model_usage: { on_low_budget: 'REFUSE' } });
    const gateway = await t.another({ WAIT_SECONDS: '30' });
    t.purser.fake.decide(({ action }) => ({
      decision: t.purser.fake.decisions.length === 0 ? 'ALLOW' : 'DENY',
      authorized_amount_minor: action.amount_minor,
    }));
    const first = chat(gateway.url, { output: 10, holds: true });
    await until(() => t.provider.calls.length === 1);
    const second = chat(gateway.url, { output: 10 });
    // It was refused money and waits.
    await until(() => t.purser.fake.decisions.length >= 2);
    expect(t.provider.calls).toHaveLength(1);
    t.provider.release();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
  });

  test('is not lowered to less than the thinking that it asks for', async () => {
    t.purser.fake.decide(() =>
      t.purser.fake.decisions.length % 2 === 0
        ? { decision: 'ALLOW', authorized_amount_minor: 2 }
        : { decision: 'DENY', reason_code: 'MONTHLY_BUDGET_EXCEEDED' },
    );
    const ask_for = (more: object) =>
      ask(t.gateway.url, '/v1/messages', calling({ output: 5 }, { max_tokens: 3_000, ...more }));
    const refused = await ask_for({ thinking: { type: 'enabled', budget_tokens: 2_500 } });
    expect([refused.status, t.provider.calls]).toEqual([402, []]);
    const lowered = await ask_for({});
    expect([lowered.status, t.provider.calls[0]?.body.max_tokens]).toEqual([
      200,
      Number(lowered.headers.get('x-purser-max-tokens')),
    ]);
    expect(t.provider.calls[0]?.body.max_tokens).toBeLessThan(2_500);
  });

  test.each(['/v1/chat/completions', '/v1/messages'])(
    'and that a person has to allow is refused for good, and looked up without a new request: %s',
    async (path) => {
      t.purser.fake.decide('REVIEW');
      const refusals = [];
      for (let i = 0; i < 2; i++)
        refusals.push(await ask(t.gateway.url, path, calling({}, { max_tokens: 9 })));
      const [first] = refusals as [(typeof refusals)[0]];
      const is_openai = path === '/v1/chat/completions';
      expect(first.status).toBe(is_openai ? 429 : 402);
      expect(errorOf(first)).toMatchObject(
        is_openai ? { type: 'insufficient_quota', code: 'review_pending' } : { type: 'billing_error' },
      );
      expect(first.headers.get('x-purser-reason')).toBe(t.purser.fake.decisions[0]?.reason_code);
      expect(first.headers.get('x-should-retry')).toBe('false');
      expect(t.purser.fake.decisions).toHaveLength(1);
    },
  );
});

describe('a call without an end', () => {
  test('is cut off after CALL_SECONDS, and counts at its worst case', async () => {
    const gateway = await t.another({ CALL_SECONDS: '1' });
    const cut = chat(gateway.url, { output: 10, dies_after: 300, holds: true }, { stream: true });
    await expect(cut).rejects.toThrow();
    t.provider.release();
    await until(() => gateway.journal().includes('"uncertain":true'));
  });

  test('whose client leaves is cut off with ON_CLIENT_ABORT=stop, and counts at its worst case', async () => {
    const gateway = await t.another({ ON_CLIENT_ABORT: 'stop' });
    const left = new AbortController();
    const body = calling(
      { output: 40, cuts: [400, 800, 1_200], pause_ms: 50 },
      { max_tokens: 3_000, stream: true },
    );
    const gone = ask(gateway.url, '/v1/chat/completions', body, { signal: left.signal }).catch(() => 'gone');
    await until(() => t.provider.calls.length === 1);
    left.abort();
    expect(await gone).toBe('gone');
    await until(() => gateway.journal().includes('"uncertain":true'));
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain('purser_gateway_aborted_total 1\n');
    expect(metrics).toContain('purser_gateway_uncertain_total 1\n');
  });
});

describe('prices', () => {
  test('of an unknown model are the highest of the provider with HIGHEST_PRICE', async () => {
    setTerms({ model_usage: { on_unknown_price: 'HIGHEST_PRICE' } });
    const { models } = await pricesShown();
    const dearest = Math.max(
      ...models
        .filter(({ provider }) => provider === 'openai')
        .flatMap((each) => JSON.stringify(each).match(/"output":"[\d.]+"/g) ?? [])
        .map((found) => Number(found.slice(10, -1))),
    );
    const answer = await chat(t.gateway.url, { output: 100 }, { model: 'unheard-of', max_tokens: 100 });
    expect(answer.status, answer.text).toBe(200);
    expect(Number(answer.headers.get('x-purser-cost')?.split(' ')[0])).toBeGreaterThanOrEqual(
      (100 * dearest) / 1e6,
    );
  });

  test('in another currency than the authority are refused without a rate', async () => {
    setTerms({ currency: 'EUR' });
    const answer = await chat(t.gateway.url, {});
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      expect.objectContaining({ code: 'price_unknown', param: 'model' }),
    ]);
    expect(PRICES.models[0]?.currency).toBe('USD');
  });
});

/** Says that a body of this length follows, and sends none. */
function announce(path: string, length: number) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(`${t.gateway.url}${path}`, {
      method: 'POST',
      agent: false,
      headers: { authorization: 'Bearer sk_agent', 'content-length': length },
    });
    sent.on('error', reject).on('response', async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode ?? 0, text });
      sent.destroy();
    });
    sent.flushHeaders();
  });
}

test('a body over 32 MB is refused in the shape of the provider', async () => {
  const length = 32 * 1024 * 1024 + 1;
  const openai = await announce('/v1/chat/completions', length);
  expect([openai.status, errorOf(openai).code]).toEqual([413, 'request_too_large']);
  const anthropic = await announce('/v1/messages', length);
  expect([anthropic.status, errorOf(anthropic).type]).toEqual([413, 'request_too_large']);
});

test('a provider without a key has no routes', async () => {
  const gateway = await t.another({ ANTHROPIC_API_KEY: '' });
  for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
    const answer = await ask(gateway.url, path, calling({}));
    expect([answer.status, errorOf(answer).type]).toEqual([404, 'not_found_error']);
  }
  const headers = { authorization: 'Bearer sk_agent', 'anthropic-version': '2023-06-01' };
  expect((await fetch(`${gateway.url}/v1/models`, { headers })).status).toBe(404);
  expect((await chat(gateway.url, { output: 1 })).status).toBe(200);
});

test('the input is bounded by the longest form of its text, and an image by what the table says', async () => {
  const said = (content: unknown) => ({
    model: 'test-model',
    max_tokens: 9,
    messages: [{ role: 'user', content }],
  });
  const bodies = [
    said('a'.repeat(20)),
    said('\ufdfa'.repeat(20)),
    said([{ type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(4_000)}` } }]),
  ];
  for (const body of bodies) await ask(t.gateway.url, '/v1/chat/completions', body);
  const [plain, long, image] = t.records('reserve').map(({ input }) => input);
  // The body, its message and its tools, and 1,024.
  expect(plain).toBe(Buffer.byteLength(JSON.stringify(bodies[0])) + 2 * 16 + 1_024);
  expect(long - plain).toBe(20 * 33 - 20);
  expect(image).toBeLessThan(1_000 + 1_024 + 200);
  expect(image).toBeGreaterThan(1_000 + 1_024);
});

test('the metrics have the counters and gauges of the contract from the start', async () => {
  await chat(t.gateway.url, { output: 1 });
  await chat(t.gateway.url, {}, { model: 'other' });
  const metrics = await (await fetch(`${t.gateway.url}/metrics`)).text();
  const values = metrics.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(values).toEqual([
    'purser_gateway_calls_total{provider="openai",shape="chat",status="200"} 1',
    'purser_gateway_refused_total{code="price_unknown"} 1',
    ...['lowered', 'uncertain', 'over_bound', 'aborted'].map((name) => `purser_gateway_${name}_total 0`),
    'purser_gateway_open_leases 1',
    'purser_gateway_calls_open 0',
  ]);
});
