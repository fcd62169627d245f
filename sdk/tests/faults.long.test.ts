import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { takesMinutes } from '../../server/tests/support/until.ts';
import { runFaults, type Tally, type Variant } from './fault-run.ts';
import { startKilledService } from './killed-service.ts';
import { type RunningService, startTestService } from './service.ts';

/**
 * Runs of each variant: `FAULT_RUNS=10000 npm test -- sdk/tests/faults`; with Python callers
 * `SPEND_CALLER=python SPEND_RUNS=10000 npm test -- sdk/tests/faults`.
 */
const RUNS = Math.max(
  Number(process.env.FAULT_RUNS),
  process.env.SPEND_CALLER === 'python' ? Number(process.env.SPEND_RUNS) : 0,
);
const IS_LONG = RUNS > 100;
/** Enough for a mistake to show: each shows in a fifth of the runs. */
const RUNS_TO_BE_CAUGHT = 60;
takesMinutes(10 + RUNS / 20);
const IN_SHADOW_KILLED: Variant = { mode: 'SHADOW', service_killed: true };

let s: RunningService;
beforeAll(async () => {
  s = await startTestService();
});
afterAll(() => s.stop());

async function tallyOf(name: string, variant: Variant, runs: number): Promise<Tally> {
  // Who kills a service has it alone.
  const killed = variant.service_killed === true ? await startKilledService() : null;
  const tally = await runFaults(killed ?? s, variant, runs).finally(() => killed?.stop());
  if (IS_LONG) process.stdout.write(`${name}: ${JSON.stringify(tally)}\n`);
  return tally;
}

// Each has an agent, a rail and processes of its own and mostly waits, so they run side by side.
describe.concurrent('of all spends with lost requests and answers, cuts, delays, answers of another shape and killed processes', () => {
  test.each<[string, Variant]>([
    ['in ENFORCE with an adapter', { mode: 'ENFORCE', adapter: true }],
    [
      'in ENFORCE with an adapter and an idempotent rail',
      { mode: 'ENFORCE', adapter: true, idempotent: true },
    ],
    ['in ENFORCE with an adapter behind the token', { mode: 'ENFORCE' }],
    ['in ENFORCE with nothing behind the token', { mode: 'ENFORCE', token_unused: true }],
    ['in SHADOW', { mode: 'SHADOW' }],
    [
      'in ENFORCE, while the service is killed too,',
      { mode: 'ENFORCE', adapter: true, service_killed: true },
    ],
    ['in SHADOW with an idempotent rail', { mode: 'SHADOW', idempotent: true }],
    [
      'in SHADOW under a service that does not say whose a replay is',
      { mode: 'SHADOW', replay_of: 'withheld' },
    ],
    // In long runs alone, because the service takes its time to come back.
    ...(IS_LONG
      ? [['in SHADOW, while the service is killed too,', IN_SHADOW_KILLED] as [string, Variant]]
      : []),
  ])('%s none is paid twice, and none that was paid is on record as failed', async (name, variant) => {
    const tally = await tallyOf(name, variant, RUNS);
    expect(tally).toMatchObject({ paid_twice: 0, failed_though_paid: 0, executed_though_unpaid: 0 });
    if (variant.replay_of === undefined) expect(tally.unpaid_without_cause).toBe(0);
    expect(tally.paid).toBeGreaterThan(RUNS / 10);
    expect(tally.ended.killed).toBeGreaterThan(0);
    if (variant.service_killed === true) expect(tally.service_kills).toBeGreaterThan(0);
  });
});

test.each<[string, Variant]>([
  ['in ENFORCE with an adapter', { mode: 'ENFORCE', adapter: true }],
  ['in ENFORCE with an adapter behind the token', { mode: 'ENFORCE' }],
  ['in ENFORCE with nothing behind the token', { mode: 'ENFORCE', token_unused: true }],
  ['in SHADOW', { mode: 'SHADOW' }],
])('%s one of fifty callers of one name, in four processes, pays', async (name, variant) => {
  const tally = await tallyOf(name, { ...variant, race: 50 }, 1);
  expect(tally).toMatchObject({ paid: 1, paid_twice: 0, failed_though_paid: 0, unpaid_without_cause: 0 });
  const { paid, already_paid = 0, SpendUnfinished = 0, SpendUncertain = 0, ...others } = tally.ended;
  expect([paid, others]).toEqual([1, {}]);
  expect(already_paid + SpendUnfinished + SpendUncertain).toBe(50);
});

describe.concurrent('these runs find', () => {
  test('a client that takes every replay for its own: it pays twice', async () => {
    const tally = await tallyOf(
      'taken for its own',
      { mode: 'SHADOW', replay_of: 'forged' },
      RUNS_TO_BE_CAUGHT,
    );
    expect(tally.paid_twice).toBeGreaterThan(0);
  });

  test('a caller that takes every exception for a failure: it reports as failed what was paid', async () => {
    const variant: Variant = {
      mode: 'ENFORCE',
      adapter: true,
      every_failure_is_definite: true,
      rail_faults: { lost_requests: 0, lost_answers: 0.4, declined: 0 },
    };
    const tally = await tallyOf('taken for a failure', variant, RUNS_TO_BE_CAUGHT);
    expect(tally.failed_though_paid).toBeGreaterThan(0);
  });
});
