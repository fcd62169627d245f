import { expect, test } from 'vitest';
import { until } from '../../server/tests/support/until.ts';
import type { FakeProvider } from './support/fake-provider.ts';
import { ask, calling } from './support/gateway.ts';
import { gatewayTest } from './support/gateway-test.ts';

const t = gatewayTest({ monthly_budget_minor: 100 }, { LEASE_IDLE_SECONDS: '1' });

test('a call passes with the provider’s key and costs what the provider reports', async () => {
  const answer = await ask(
    t.gateway.url,
    '/v1/chat/completions',
    calling({ output: 30 }, { max_tokens: 100 }),
  );
  expect(answer.status, answer.text).toBe(200);
  const [call] = t.provider.calls;
  if (call === undefined) throw new Error('no call');
  expect(answer.text).toBe(call.answer);
  expect(call.headers.authorization).toBe('Bearer sk-provider-openai');
  const { input, cached, written, output } = call;
  const cost = (input - cached - written) * 2 + cached * 0.5 + written * 2.5 + output * 10;
  expect(answer.headers.get('x-purser-cost')).toBe(`${(cost / 1e6).toFixed(11)} USD`);
  expect(answer.headers.get('x-purser-mode')).toBe('ENFORCE');
  expect(answer.headers.get('x-purser-decision')).toMatch(/^dec_/);
  expect(answer.headers.get('request-id')).toBe('req_provider');
  expect(answer.headers.has('x-purser-max-tokens')).toBe(false);
  await until(() => t.purser.fake.outcomes.length === 1);
  expect(t.purser.fake.outcomes[0]).toMatchObject({
    type: 'SPEND_EXECUTED',
    amount_minor: 1,
    source: 'PAYMENT_RAIL',
  });
});

test('the limit on output is lowered to what is left, and everything else stays as it was', async () => {
  // Of USD 1.00 all but some cents are spent.
  const first = await ask(t.gateway.url, '/v1/messages', calling({ output: 8000 }, { max_tokens: 8000 }), {
    key: 'sk_agent',
  });
  expect(first.status, first.text).toBe(200);
  let lowered = 0;
  for (let i = 0; i < 40 && lowered === 0; i++) {
    const { status, headers, text } = await ask(
      t.gateway.url,
      '/v1/messages',
      calling({ output: 8000 }, { max_tokens: 8000 }),
    );
    expect(status, text).toBe(200);
    lowered = Number(headers.get('x-purser-max-tokens') ?? 0);
  }
  expect(lowered).toBeGreaterThan(10);
  expect(lowered).toBeLessThan(8000);
  const { raw, body } = t.provider.calls.at(-1) as FakeProvider['calls'][0];
  expect(raw).toBe(JSON.stringify(calling({ output: 8000 }, { max_tokens: lowered })));
  expect(body.max_tokens).toBe(lowered);
  // After it nothing is left: in use at first, then reported and used up.
  const last = await until(async () => {
    const answer = await ask(t.gateway.url, '/v1/messages', calling({ output: 8000 }, { max_tokens: 8000 }));
    return answer.status === 402 ? answer : undefined;
  });
  expect(JSON.parse(last.text)).toEqual({
    type: 'error',
    error: { type: 'billing_error', message: 'The budget for this call is used up.' },
  });
  expect(last.headers.get('x-purser-reason')).toBe('MONTHLY_BUDGET_EXCEEDED');
  expect(last.headers.get('x-should-retry')).toBe('false');
  expect(t.purser.counted()).toBe(100);
});

test('with REFUSE a call is made whole or not at all', async () => {
  (t.purser.agent.authority as { model_usage: object }).model_usage = { on_low_budget: 'REFUSE' };
  let status = 200;
  for (let i = 0; i < 40 && status === 200; i++)
    ({ status } = await ask(
      t.gateway.url,
      '/v1/chat/completions',
      calling({ output: 8000 }, { max_tokens: 8000 }),
    ));
  expect(status).toBe(429);
  expect(t.provider.calls.every(({ body }) => body.max_tokens === 8000)).toBe(true);
});

test('a budget that other calls hold is in use and not used up', async () => {
  // The held call has most of the budget; ten tokens more are not to be had while it runs.
  const wish = { output: 10, holds: true };
  const held = Array.from({ length: 13 }, () =>
    ask(t.gateway.url, '/v1/chat/completions', calling(wish, { max_tokens: 8000 })),
  );
  await until(() => t.provider.calls.length >= 12);
  let answer = await ask(
    t.gateway.url,
    '/v1/chat/completions',
    calling({ output: 10 }, { max_tokens: 8000 }),
  );
  for (let i = 0; i < 20 && answer.status === 200; i++)
    answer = await ask(
      t.gateway.url,
      '/v1/chat/completions',
      calling({ holds: false, output: 10 }, { max_tokens: 8000 }),
    );
  t.provider.release();
  expect(answer.status, answer.text).toBe(429);
  expect(JSON.parse(answer.text).error).toMatchObject({ type: 'rate_limit_error', code: 'budget_in_use' });
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(answer.headers.get('x-should-retry')).toBe('true');
  const sweep = setInterval(() => t.provider.release(), 5);
  const statuses = (await Promise.all(held)).map(({ status }) => status);
  clearInterval(sweep);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(12);
});

test('a default limit is set where the request has none', async () => {
  const answer = await ask(t.gateway.url, '/v1/responses', { model: 'test-model', input: '{"output":5000}' });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get('x-purser-max-tokens')).toBe('1000');
  expect(t.provider.calls[0]?.body.max_output_tokens).toBe(1000);
});

test.each<[string, string, Record<string, unknown>, number, string, string | null]>([
  [
    'an unknown model',
    '/v1/chat/completions',
    calling({}, { model: 'other' }),
    400,
    'price_unknown',
    'model',
  ],
  [
    'a hosted tool',
    '/v1/responses',
    { model: 'test-model', input: 'a', tools: [{ type: 'web_search' }] },
    400,
    'unbounded_request',
    'tools[0]',
  ],
  [
    'work in the background',
    '/v1/responses',
    { model: 'test-model', input: 'a', background: true },
    400,
    'unbounded_request',
    'background',
  ],
  [
    'several runs',
    '/v1/responses',
    { model: 'test-model', input: 'a', reasoning: { mode: 'pro' } },
    400,
    'unbounded_request',
    'reasoning.mode',
  ],
  [
    'a tier without a price',
    '/v1/chat/completions',
    calling({}, { service_tier: 'priority' }),
    400,
    'unbounded_request',
    'service_tier',
  ],
  [
    'web search',
    '/v1/chat/completions',
    calling({}, { web_search_options: {} }),
    400,
    'unbounded_request',
    'web_search_options',
  ],
  [
    'an output in sound',
    '/v1/chat/completions',
    calling({}, { modalities: ['text', 'audio'] }),
    400,
    'unbounded_request',
    'modalities',
  ],
  [
    'a limit that is none',
    '/v1/chat/completions',
    calling({}, { max_tokens: -1 }),
    400,
    'invalid_request',
    'max_tokens',
  ],
  ['no model', '/v1/chat/completions', { messages: [] }, 400, 'invalid_request', 'model'],
])('%s is refused before anything is reserved', async (_, path, body, status, code, param) => {
  const answer = await ask(t.gateway.url, path, body);
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.text).error).toMatchObject({ type: 'invalid_request_error', code, param });
  expect(answer.headers.get('x-purser-reason')).toBe(code);
  expect(answer.headers.get('x-should-retry')).toBe('false');
  expect([t.provider.calls, t.purser.fake.decisions]).toEqual([[], []]);
});

test('keys and agents that may not call are refused in the shape of the provider', async () => {
  const wrong = await ask(t.gateway.url, '/v1/messages', calling({}, { max_tokens: 9 }), { key: 'sk_other' });
  expect([wrong.status, JSON.parse(wrong.text).error.type]).toEqual([401, 'authentication_error']);
  const adapter = await ask(t.gateway.url, '/v1/chat/completions', calling({}), { key: 'sk_adapter' });
  expect([adapter.status, JSON.parse(adapter.text).error.code]).toEqual([403, 'agent_key_required']);
  (t.purser.agent.authority as { model_usage: object }).model_usage = { models: ['test-*', 'other'] };
  const allowed = await ask(t.gateway.url, '/v1/chat/completions', calling({}, { max_tokens: 9 }));
  expect(allowed.status, allowed.text).toBe(200);
  const model = await ask(
    t.gateway.url,
    '/v1/chat/completions',
    calling({}, { model: 'text', max_tokens: 9 }),
  );
  expect([model.status, JSON.parse(model.text).error.code]).toEqual([403, 'model_not_allowed']);
  const none = await fetch(`${t.gateway.url}/v1/files`, { method: 'POST' });
  expect(none.status).toBe(404);
});

test('a paused agent is refused, and a revoked key, once Purser is asked again', async () => {
  const again = await t.another({ CHECK_SECONDS: '1' });
  const call = () => ask(again.url, '/v1/chat/completions', calling({ output: 1 }, { max_tokens: 9 }));
  expect((await call()).status).toBe(200);
  t.purser.agent.may_spend = false;
  const paused = await until(async () => {
    const answer = await call();
    return answer.status === 200 ? undefined : answer;
  });
  expect(JSON.parse(paused.text).error.code).toBe('agent_not_active');
  t.purser.keys.delete('sk_agent');
  await until(async () => (await call()).status === 401);
});

test('the provider’s errors pass unchanged and cost nothing', async () => {
  const body = '{"error": {"message":"Slow down.","type":"x"} }';
  const answer = await ask(
    t.gateway.url,
    '/v1/chat/completions',
    calling({ error: { status: 429, body } }, { max_tokens: 9 }),
  );
  expect([answer.status, answer.text]).toEqual([429, body]);
  expect(answer.headers.get('x-purser-cost')).toBe('0.00000000000 USD');
  expect(answer.headers.get('request-id')).toBe('req_p');
  await until(() => t.purser.fake.outcomes.length === 1);
  expect(t.purser.fake.outcomes[0]?.type).toBe('SPEND_CANCELLED');
});

test('an answer that is cut off counts at its worst case, and what Anthropic reported of the input as reported', async () => {
  const cut = calling({ output: 3000, dies_after: 900 }, { max_tokens: 4000, stream: true });
  await ask(t.gateway.url, '/v1/chat/completions', cut).catch(() => {});
  await ask(t.gateway.url, '/v1/messages', cut).catch(() => {});
  const settled = await until(() => {
    const found = t.records('settle');
    return found.length === 2 ? found : undefined;
  });
  expect(settled.map(({ uncertain, usage }) => [uncertain, usage.output])).toEqual([
    [true, 4000],
    [true, 4000],
  ]);
  const [, messages] = t.provider.calls as [unknown, FakeProvider['calls'][0]];
  expect(settled[1].usage).toMatchObject({ cached_input: messages.cached, cache_write: messages.written });
  expect(settled[0].amount).toBe(t.records('reserve')[0].amount);
});

test('a usage above what was set aside counts in full, is logged, and stops the purse until it is covered', async () => {
  const lies = { completion_tokens: 40_000 };
  const answer = await ask(
    t.gateway.url,
    '/v1/chat/completions',
    calling({ output: 5, lies }, { max_tokens: 9 }),
  );
  expect(answer.status).toBe(200);
  expect(Number(answer.headers.get('x-purser-cost')?.split(' ')[0])).toBeGreaterThan(0.4);
  expect(t.gateway.lines.join('')).toContain('cost more than was set aside');
  const metrics = await (await fetch(`${t.gateway.url}/metrics`)).text();
  expect(metrics).toContain('purser_gateway_over_bound_total 1');
  await until(() => t.purser.counted() === 41);
});

test('usage that cannot be true is no usage', async () => {
  for (const lies of [
    { completion_tokens: -5 },
    { prompt_tokens: 1 },
    { completion_tokens: '9' },
    { prompt_tokens: 0.5 },
  ])
    await ask(t.gateway.url, '/v1/chat/completions', calling({ output: 5, lies }, { max_tokens: 9 }));
  expect(t.records('settle').map(({ uncertain }) => uncertain)).toEqual([true, true, true, true]);
});

test('a provider that cannot be reached costs nothing', async () => {
  const again = await t.another({}, { url: 'http://127.0.0.1:9' });
  const answer = await ask(again.url, '/v1/messages', calling({}, { max_tokens: 9 }));
  expect([answer.status, JSON.parse(answer.text).error.type]).toEqual([502, 'api_error']);
  expect(answer.headers.get('x-should-retry')).toBe('true');
  await again.stop();
  expect(t.purser.counted()).toBe(0);
});

test('without Purser no call is made', async () => {
  t.purser.before = () => {
    throw new Error('away');
  };
  const answer = await ask(t.gateway.url, '/v1/chat/completions', calling({}, { max_tokens: 9 }));
  expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([503, 'purser_unavailable']);
  expect(t.provider.calls).toEqual([]);
  expect((await fetch(`${t.gateway.url}/readyz`)).status).toBe(503);
  expect((await fetch(`${t.gateway.url}/healthz`)).status).toBe(200);
});

test('a client that leaves is drained: the call is counted as it was billed', async () => {
  const left = new AbortController();
  const body = calling({ output: 100, holds: true }, { max_tokens: 4000, stream: true });
  const gone = ask(t.gateway.url, '/v1/chat/completions', body, { signal: left.signal }).catch(() => 'gone');
  await until(() => t.provider.calls.length === 1);
  left.abort();
  expect(await gone).toBe('gone');
  const [settle] = await until(() => {
    t.provider.release();
    const found = t.records('settle');
    return found.length > 0 ? found : undefined;
  });
  expect(settle).toMatchObject({ uncertain: false, usage: { output: 100 } });
});

test('headers of the connection, of the agent and of Purser stay behind', async () => {
  const headers = {
    'x-api-key': 'sk_agent',
    'x-purser-mode': 'SHADOW',
    'anthropic-version': '2023-06-01',
    'x-custom': 'kept',
    te: 'trailers',
  };
  await ask(t.gateway.url, '/v1/messages?beta=true', calling({ output: 1 }, { max_tokens: 9 }), { headers });
  const sent = t.provider.calls[0]?.headers as Record<string, string>;
  expect(sent).toMatchObject({
    'x-api-key': 'sk-provider-anthropic',
    'anthropic-version': '2023-06-01',
    'x-custom': 'kept',
  });
  for (const name of ['authorization', 'x-purser-mode', 'te', 'accept-encoding'])
    expect(sent).not.toHaveProperty(name);
});

test('counting tokens and listing models cost nothing', async () => {
  const counted = await ask(t.gateway.url, '/v1/messages/count_tokens', calling({}));
  expect(counted.text).toBe('{"input_tokens":42}');
  const models = await fetch(`${t.gateway.url}/v1/models`, { headers: { authorization: 'Bearer sk_agent' } });
  expect(models.status).toBe(200);
  expect((await fetch(`${t.gateway.url}/v1/models/x`)).status).toBe(401);
  expect(t.purser.fake.decisions).toEqual([]);
});

test('embeddings cost their input', async () => {
  const answer = await ask(t.gateway.url, '/v1/embeddings', { model: 'test-model', input: ['a', 'b'] });
  expect(answer.status, answer.text).toBe(200);
  const [call] = t.provider.calls;
  expect(answer.headers.get('x-purser-cost')).toBe(`${(((call?.input ?? 0) * 2) / 1e6).toFixed(11)} USD`);
});
