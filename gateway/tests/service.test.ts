import { expect } from 'vitest';
import { makeKey } from '../../server/tests/support/running-service.ts';
import { serviceTest } from '../../server/tests/support/service-test.ts';
import { until } from '../../server/tests/support/until.ts';
import { startFakeProvider } from './support/fake-provider.ts';
import { ask, calling, startTestGateway } from './support/gateway.ts';

const CANARY = 'canary-8f1c';

const { test, s, get, post, makeAgent } = serviceTest({ plan: 'enterprise' });

test('against the service itself: leases are decided, consumed and reported with their usage', async () => {
  const slug = await makeAgent(
    { currency: 'USD', monthly_budget_minor: 100, model_usage: {} },
    { mode: 'ENFORCE' },
  );
  const { id } = await get(`/v1/agents/${slug}`);
  const { key } = await makeKey(s, { agent_id: id });
  const { key: adapter } = await makeKey(s, { scopes: ['consume'] });
  const provider = await startFakeProvider();
  const gateway = await startTestGateway(s.url, provider, {
    PURSER_ADAPTER_KEY: adapter,
    LEASE_IDLE_SECONDS: '1',
  });
  try {
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    const answer = await ask(
      gateway.url,
      '/v1/chat/completions',
      calling({ output: 30 }, { max_tokens: 100 }),
      { key },
    );
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get('x-purser-remaining')).toMatch(/^0\.99\d{4} USD$/);
    const decision_id = answer.headers.get('x-purser-decision');
    const settled = await until(async () => {
      const { data } = await get(`/v1/decisions/${decision_id}/outcomes`);
      return data.length > 0 ? data : undefined;
    });
    expect(settled[0]).toMatchObject({ type: 'SPEND_EXECUTED', amount_minor: 1, source: 'PAYMENT_RAIL' });
    expect(settled[0].usage).toMatchObject([{ model: 'test-model', calls: 1, output_tokens: 30 }]);
  } finally {
    await gateway.remove();
    await provider.stop();
  }
});

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
