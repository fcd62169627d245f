import { test } from 'vitest';
import { takesMinutes, until } from '../../server/tests/support/until.ts';
import { type FakeProvider, startFakeProvider } from './support/fake-provider.ts';
import { serveFakePurser } from './support/fake-purser.ts';
import { ask, calling, startTestGateway } from './support/gateway.ts';

// Each lost answer costs a pause before the retry, and one agent's leases are taken one after the other.
const CALLS = Number(process.env.GATEWAY_RUNS) / 10;
takesMinutes(5);

const USD_UNITS = 1e9;
const costOf = ({ input, cached, written, output }: FakeProvider['calls'][0]) =>
  ((input - cached - written) * 2 + cached * 0.5 + written * 2.5 + output * 10) / 1e4;

test.concurrent.for([
  ['decision', /^\/v1\/decisions$/],
  ['outcome', /^\/v1\/decisions\/\w+\/outcomes$/],
  ['consumption', /^\/v1\/capabilities\/consume$/],
] as const)(
  'answers that are lost at each %s leave no lease open, and everything billed is counted',
  async ([, path], { expect }) => {
    const provider = await startFakeProvider();
    const purser = await serveFakePurser({ monthly_budget_minor: 100_000, per_transaction_limit_minor: 2 });
    // Each call needs leases of its own, and every other answer about them is lost.
    const gateway = await startTestGateway(purser.url, provider, {
      LEASE_IDLE_SECONDS: '1',
      LEASE_MINOR: '1',
    });
    let asked = 0;
    purser.after = (at) => {
      if (path.test(at) && ++asked % 2 === 1) throw new Error('lost');
    };
    try {
      const call = () =>
        ask(gateway.url, '/v1/chat/completions', calling({ output: 1200 }, { max_tokens: 1500 }));
      for (let left = CALLS; left > 0; left -= 10) await Promise.all(Array.from({ length: 10 }, call));
      await until(() => purser.isSettled());
      const billed = provider.calls.reduce((sum, each) => sum + costOf(each), 0);
      expect(provider.calls.length).toBeGreaterThan(0);
      expect(purser.counted() + 1 / USD_UNITS).toBeGreaterThanOrEqual(billed);
      expect(purser.counted()).toBeLessThan(billed + 2);
      expect(asked).toBeGreaterThan(1);
    } finally {
      await gateway.remove();
      await purser.stop();
      await provider.stop();
    }
  },
);
