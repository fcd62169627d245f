import { expect, test } from 'vitest';
import { until } from '../../server/tests/support/until.ts';
import { startFakeProvider } from './support/fake-provider.ts';
import { serveFakePurser } from './support/fake-purser.ts';
import { ask, calling, startTestGateway } from './support/gateway.ts';

const CANARY = 'canary-8f1c';

test('no prompt, no answer and no key is in the journal, the log, the metrics or what Purser gets', async () => {
  const provider = await startFakeProvider();
  const key = `sk_${CANARY}`;
  const purser = await serveFakePurser({ monthly_budget_minor: 100 });
  purser.keys.add(key);
  const bodies: string[] = [];
  const gateway = await startTestGateway(purser.url, provider, {
    OPENAI_API_KEY: `sk-${CANARY}`,
    ANTHROPIC_API_KEY: `sk-${CANARY}`,
    LEASE_IDLE_SECONDS: '1',
  });
  try {
    const said = { key, headers: { 'x-custom': CANARY } };
    const wish = { output: 20, text: CANARY };
    await ask(gateway.url, '/v1/chat/completions', calling(wish, { stream: true, user: CANARY }), said);
    await ask(
      gateway.url,
      '/v1/messages',
      calling({ ...wish, dies_after: 500 }, { stream: true }),
      said,
    ).catch(() => {});
    await ask(gateway.url, '/v1/responses', { model: CANARY, input: CANARY }, said);
    await ask(
      gateway.url,
      '/v1/responses',
      { model: 'test-model', input: CANARY, [CANARY]: 1, tools: [{ type: CANARY }] },
      said,
    );
    await ask(
      gateway.url,
      '/v1/chat/completions',
      calling({ ...wish, lies: { completion_tokens: 90_000 } }),
      said,
    );
    await until(() => purser.fake.outcomes.length > 0);
    bodies.push(
      gateway.journal(),
      gateway.lines.join(''),
      await (await fetch(`${gateway.url}/metrics`)).text(),
    );
    bodies.push(JSON.stringify([purser.fake.decisions, purser.fake.outcomes, purser.asked]));
    expect(provider.calls.map(({ answer }) => answer).join('')).toContain(CANARY);
    for (const body of bodies) expect(body).not.toContain(CANARY);
  } finally {
    await gateway.remove();
    await purser.stop();
    await provider.stop();
  }
});
