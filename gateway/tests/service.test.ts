import { expect } from 'vitest';
import { makeKey } from '../../server/tests/support/running-service.ts';
import { serviceTest } from '../../server/tests/support/service-test.ts';
import { until } from '../../server/tests/support/until.ts';
import { startFakeProvider } from './support/fake-provider.ts';
import { ask, calling, startTestGateway } from './support/gateway.ts';

const { test, s, get, makeAgent } = serviceTest({ plan: 'enterprise' });

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
    ...{ PURSER_ADAPTER_KEY: adapter, LEASE_IDLE_SECONDS: '1' },
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
