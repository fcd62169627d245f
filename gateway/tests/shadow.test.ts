import { expect, test } from 'vitest';
import { until } from '../../server/tests/support/until.ts';
import { startFakeProvider } from './support/fake-provider.ts';
import { serveFakePurser } from './support/fake-purser.ts';
import { ask, calling, startTestGateway } from './support/gateway.ts';

test('in SHADOW nothing is refused or lowered, and everything is counted as in ENFORCE', async () => {
  const provider = await startFakeProvider();
  const purser = await serveFakePurser({ monthly_budget_minor: 5 }, { mode: 'SHADOW' });
  const gateway = await startTestGateway(purser.url, provider, {
    LEASE_IDLE_SECONDS: '1',
    CHECK_SECONDS: '1',
  });
  try {
    const would = new Set<string>();
    // The answers about leases come while calls are made: in SHADOW no call waits for them.
    await until(async () => {
      const answer = await ask(
        gateway.url,
        '/v1/chat/completions',
        calling({ output: 3000 }, { max_tokens: 3000 }),
      );
      expect(answer.status, answer.text).toBe(200);
      expect(answer.headers.get('x-purser-mode')).toBe('SHADOW');
      would.add(answer.headers.get('x-purser-would')?.split(' ')[0] ?? 'nothing');
      return provider.calls.length >= 6 && would.has('ALLOW') && (would.has('REFUSE') || would.has('LOWER'));
    });
    expect(provider.calls.every(({ body }) => body.max_tokens === 3000)).toBe(true);

    const unbounded = { model: 'test-model', input: '{"output":5}', tools: [{ type: 'web_search' }] };
    const hosted = await ask(gateway.url, '/v1/responses', unbounded);
    expect([hosted.status, hosted.headers.get('x-purser-would')]).toEqual([200, 'REFUSE unbounded_request']);
    expect(provider.calls.at(-1)?.raw).toBe(JSON.stringify(unbounded));
    const unknown = await ask(gateway.url, '/v1/responses', { model: 'other', input: '{}' });
    expect([unknown.status, unknown.headers.get('x-purser-would')]).toEqual([200, 'REFUSE price_unknown']);

    // Purser is away: the agent was last seen in SHADOW.
    purser.before = () => {
      throw new Error('away');
    };
    const away = await until(async () => {
      const answer = await ask(
        gateway.url,
        '/v1/chat/completions',
        calling({ output: 3000 }, { max_tokens: 3000 }),
      );
      return answer.status === 200 && purser.asked.at(-1) === '/v1/api-keys/current' ? answer : undefined;
    }, 300);
    expect(away.headers.get('x-purser-mode')).toBe('SHADOW');
    purser.before = () => {};
    const spent = () => purser.fake.outcomes.reduce((sum, { amount_minor }) => sum + (amount_minor ?? 0), 0);
    const calls = provider.calls.filter(({ body }) => body.max_tokens === 3000).length;
    await until(() => spent() >= calls * 3);
  } finally {
    await gateway.remove();
    await purser.stop();
    await provider.stop();
  }
});

test('in SHADOW the answer says what would have been done, and no call waits for a Purser that is away', async () => {
  const provider = await startFakeProvider();
  const purser = await serveFakePurser({}, { mode: 'SHADOW' });
  const gateway = await startTestGateway(purser.url, provider, { CHECK_SECONDS: '1' });
  const call = async () => {
    const { status, text, headers } = await ask(
      gateway.url,
      '/v1/messages',
      calling({ output: 10 }, { max_tokens: 3000 }),
    );
    expect(status, text).toBe(200);
    return headers.get('x-purser-would');
  };
  try {
    purser.fake.decide({ decision: 'ALLOW', authorized_amount_minor: 2 });
    const lowered = await until(async () => {
      const would = await call();
      return would?.startsWith('LOWER') ? would : undefined;
    });
    expect(Number(lowered.slice('LOWER '.length))).toBeLessThan(2000);
    expect(provider.calls.every(({ body }) => body.max_tokens === 3000)).toBe(true);
    purser.agent.may_spend = false;
    await until(async () => (await call()) === 'REFUSE agent_not_active');

    const asked = () => purser.asked.filter((path) => path === '/v1/api-keys/current').length;
    purser.before = () => {
      throw new Error('away');
    };
    const before = asked();
    await until(async () => {
      await call();
      return asked() > before + 1;
    });
    let answer = () => {};
    purser.before = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const hung = asked();
    await until(async () => {
      await call();
      return asked() > hung;
    });
    // Had it waited, the time would have run out, and it would have asked once more.
    await call();
    expect(asked()).toBe(hung + 1);
    purser.before = () => {};
    answer();
  } finally {
    await gateway.remove();
    await purser.stop();
    await provider.stop();
  }
});
