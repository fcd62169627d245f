import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { makeKey } from '../../server/tests/support/running-service.ts';
import { serviceTest } from '../../server/tests/support/service-test.ts';
import { until } from '../../server/tests/support/until.ts';
import { startFakeProvider } from './support/fake-provider.ts';
import { ask, calling, PRICES, startTestGateway, type TestGateway } from './support/gateway.ts';

const CANARY = 'canary-8f1c';

type Asked = ReturnType<typeof ask>;

const { test, s, get, post, makeAgent } = serviceTest({ plan: 'enterprise' });

/** An agent in ENFORCE with this authority and a key, and a gateway before a fake provider, for the time of `use`. */
async function withGateway(
  authority: object,
  use: (parts: {
    slug: string;
    gateway: TestGateway;
    call: (wish: object, more?: object) => Asked;
  }) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  const slug = await makeAgent({ currency: 'USD', model_usage: {}, ...authority }, { mode: 'ENFORCE' });
  const { key } = await makeKey(s, { agent_id: (await get(`/v1/agents/${slug}`)).id });
  const { key: adapter } = await makeKey(s, { scopes: ['consume'] });
  const provider = await startFakeProvider();
  const gateway = await startTestGateway(s.url, provider, {
    PURSER_ADAPTER_KEY: adapter,
    LEASE_IDLE_SECONDS: '1',
    ...env,
  });
  const call = (wish: object, more: object = {}) =>
    ask(gateway.url, '/v1/chat/completions', calling(wish, { max_tokens: 100, ...more }), { key });
  try {
    await use({ slug, gateway, call });
  } finally {
    await gateway.remove();
    await provider.stop();
  }
}

/** The outcomes of a lease, once there are some. */
const outcomesOf = ({ headers }: Awaited<Asked>) =>
  until(async () => {
    const { data } = await get(`/v1/decisions/${headers.get('x-purser-decision')}/outcomes`);
    return data.length > 0 ? data : undefined;
  });

test('against the service itself: leases are decided, consumed and reported with their usage', () =>
  withGateway({ monthly_budget_minor: 100 }, async ({ gateway, call }) => {
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    const answer = await call({ output: 30 });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get('x-purser-remaining')).toMatch(/^0\.99\d{4} USD$/);
    const [outcome] = await outcomesOf(answer);
    expect(outcome).toMatchObject({
      type: 'SPEND_EXECUTED',
      amount_minor: 1,
      source: 'PAYMENT_RAIL',
      flags: [],
    });
    expect(outcome.usage).toMatchObject([{ model: 'test-model', calls: 1, output_tokens: 30 }]);
  }));

test('prices in another currency are leased, counted and reported at the rate of the table', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'purser-prices-'));
  const file = join(directory, 'rates.json');
  // The price of a token has as many decimals as a table may have, and the yen has no minor unit.
  const rate = { from: 'USD', to: 'JPY', rate: '151.23457', source: 'our bank', as_of: '2026-11-20' };
  writeFileSync(file, JSON.stringify({ ...PRICES, rates: [rate] }));
  await withGateway(
    { currency: 'JPY', monthly_budget_minor: 500 },
    async ({ slug, gateway, call }) => {
      const answer = await call({ output: 800 }, { max_tokens: 1_000 });
      expect(answer.status, answer.text).toBe(200);
      const { prompt_tokens, prompt_tokens_details, completion_tokens } = JSON.parse(answer.text).usage;
      const { cached_tokens: cached, cache_write_tokens: written } = prompt_tokens_details;
      // Hundred thousandths of a dollar for a million tokens, times hundred thousandths of a yen.
      const cost =
        (BigInt(prompt_tokens - cached - written) * 200_000n +
          BigInt(cached) * 50_000n +
          BigInt(written) * 250_000n +
          BigInt(completion_tokens) * 1_000_000n) *
        15_123_457n;
      // Billionths of a yen, rounded up.
      const digits = String((cost + 10n ** 7n - 1n) / 10n ** 7n).padStart(10, '0');
      const exact = `${digits.slice(0, -9)}.${digits.slice(-9)}`;
      expect(answer.headers.get('x-purser-cost')).toBe(`${exact} JPY`);
      await gateway.stop();
      const [outcome] = await outcomesOf(answer);
      expect(outcome).toMatchObject({
        type: 'SPEND_EXECUTED',
        amount_minor: Number(exact.split('.')[0]) + 1,
        currency: 'JPY',
      });
      expect(outcome.usage).toMatchObject([
        { amount: exact, price: { per_million: PRICES.models[0]?.per_million } },
      ]);
      const [budget] = (await get(`/v1/agents/${slug}`)).budgets;
      expect(budget).toMatchObject({ currency: 'JPY', committed_minor: outcome.amount_minor, held_minor: 0 });
      const left = answer.headers.get('x-purser-remaining');
      expect(left).toMatch(/^49\d\.\d{4} JPY$/);
    },
    { PRICES_FILE: file },
  );
  rmSync(directory, { recursive: true });
});

test('what a call cost above its lease is in the outcome, which says so, and no further call is made', () =>
  withGateway({ monthly_budget_minor: 10 }, async ({ slug, gateway, call }) => {
    const answer = await call({ output: 5, lies: { completion_tokens: 40_000 } });
    expect(answer.status, answer.text).toBe(200);
    // No lease covers it, so no call is made.
    const next = await call({ output: 5 });
    expect([next.status, next.headers.get('x-purser-reason')]).toEqual([429, 'MIN_AMOUNT_UNREACHABLE']);
    await gateway.stop();
    const [outcome] = await outcomesOf(answer);
    expect(outcome).toMatchObject({ type: 'SPEND_EXECUTED', amount_minor: 41, flags: ['OVER_AUTHORIZED'] });
    const [budget] = (await get(`/v1/agents/${slug}`)).budgets;
    expect(budget).toMatchObject({ committed_minor: 41, held_minor: 0, remaining_minor: 0 });
    expect((await get('/v1/ledger/verify')).valid).toBe(true);
  }));

test('an allowance’s key calls models too, and its amount bounds them', async () => {
  const slug = await makeAgent(
    { currency: 'USD', monthly_budget_minor: 10_000, model_usage: {} },
    { mode: 'ENFORCE' },
  );
  const expires_at = new Date(Date.now() + 86_400_000).toISOString();
  const { id, api_key } = await post('/v1/allowances', {
    agent: slug,
    amount_minor: 5,
    currency: 'USD',
    expires_at,
    key: true,
  });
  const { key: adapter } = await makeKey(s, { scopes: ['consume'] });
  const provider = await startFakeProvider();
  const gateway = await startTestGateway(s.url, provider, {
    PURSER_ADAPTER_KEY: adapter,
    LEASE_IDLE_SECONDS: '1',
  });
  const call = () =>
    ask(gateway.url, '/v1/messages', calling({ output: 8_000 }, { max_tokens: 8_000 }), { key: api_key.key });
  try {
    const lowered = await call();
    expect(lowered.status, lowered.text).toBe(200);
    // A token of output costs a thousandth of a cent.
    expect(Number(lowered.headers.get('x-purser-max-tokens'))).toBeLessThan(5_000);
    const last = await until(async () => {
      const answer = await call();
      return answer.status === 402 ? answer : undefined;
    });
    expect(last.headers.get('x-purser-reason')).toBe('ALLOWANCE_EXCEEDED');
    expect(await get(`/v1/allowances/${id}`)).toMatchObject({
      status: 'EXHAUSTED',
      total: { used_minor: 5 },
    });
  } finally {
    await gateway.remove();
    await provider.stop();
  }
});

test('no prompt, no answer and no key of a call is in the database', async () => {
  const slug = await makeAgent(
    { currency: 'USD', monthly_budget_minor: 100, model_usage: {} },
    { mode: 'ENFORCE' },
  );
  const { key } = await makeKey(s, { agent_id: (await get(`/v1/agents/${slug}`)).id });
  const { key: adapter } = await makeKey(s, { scopes: ['consume'] });
  const provider = await startFakeProvider();
  const gateway = await startTestGateway(s.url, provider, {
    PURSER_ADAPTER_KEY: adapter,
    LEASE_IDLE_SECONDS: '1',
    OPENAI_API_KEY: `sk-${CANARY}`,
    ANTHROPIC_API_KEY: `sk-${CANARY}`,
  });
  try {
    const said = { key, headers: { 'x-custom': CANARY } };
    const wish = { output: 20, text: CANARY };
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      await ask(gateway.url, path, calling(wish, { stream: true, user: CANARY, max_tokens: 90 }), said);
      await ask(gateway.url, path, calling({ ...wish, dies_after: 300 }, { max_tokens: 90 }), said).catch(
        () => {},
      );
    }
    // Refused before and after a lease was asked for.
    await ask(gateway.url, '/v1/responses', { model: CANARY, input: CANARY }, said);
    await ask(gateway.url, '/v1/chat/completions', calling(wish, { max_tokens: 8_000, n: 90 }), said);
    expect(provider.calls.map(({ raw, answer }) => raw + answer).join('')).toContain(CANARY);
    await until(async () => (await get(`/v1/agents/${slug}`)).budgets[0].held_minor === 0);
    const { rows: tables } = await s.sql(
      "select table_name from information_schema.tables where table_schema = 'public' order by 1",
    );
    let dump = '';
    for (const { table_name } of tables) {
      const { rows } = await s.sql(`select t::text as row from ${table_name} t`);
      dump += rows.map(({ row }) => row).join('\n');
    }
    // A column of bytes is shown in hexadecimal digits.
    const hex = (text: string) => Buffer.from(text).toString('hex');
    expect(dump).toContain('model:openai');
    for (const secret of [CANARY, key.slice(3), adapter.slice(3)])
      for (const form of [secret, hex(secret), Buffer.from(secret).toString('base64').slice(0, -4)])
        expect(dump.includes(form)).toBe(false);
  } finally {
    await gateway.remove();
    await provider.stop();
  }
});
