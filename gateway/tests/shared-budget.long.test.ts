import { expect } from 'vitest';
import { makeKey } from '../../server/tests/support/running-service.ts';
import { serviceTest } from '../../server/tests/support/service-test.ts';
import { takesMinutes } from '../../server/tests/support/until.ts';
import { AGENTS, LIMIT_MINOR, spendThroughGateways, spendThroughSoftCap } from './support/shared-budget.ts';

/** `SHARED_BUDGET_RUNS=100 npm test -- gateway/tests/shared-budget` shows the runs. */
const RUNS = Number(process.env.SHARED_BUDGET_RUNS);
const IS_LONG = RUNS > 3;
takesMinutes(5 + 2 * RUNS);

const { test, s, get, post, makeAgent } = serviceTest({
  plan: 'enterprise',
  // A lease of a killed gateway whose agent makes no further call is free after this time.
  env: { CAPABILITY_TTL_SECONDS: '10' },
});

let budgets = 0;

/** Spends a new shared budget of all agents through the gateways. */
async function spendBudget(kills: number) {
  const { slug } = await post('/v1/budgets', {
    slug: `models-${++budgets}`,
    currency: 'USD',
    period: 'MONTH',
    limit_minor: LIMIT_MINOR,
  });
  const keys: string[] = [];
  const agents: string[] = [];
  for (let n = 0; n < AGENTS; n += 1) {
    const agent = await makeAgent(
      { currency: 'USD', monthly_budget_minor: 10_000, budgets: [slug], model_usage: {} },
      { mode: 'ENFORCE' },
    );
    agents.push(agent);
    keys.push((await makeKey(s, { agent_id: (await get(`/v1/agents/${agent}`)).id })).key);
  }
  const { key: adapter_key } = await makeKey(s, { scopes: ['consume'] });
  const standing = async () => (await get(`/v1/budgets/${slug}`)).standing;
  const isSettled = async () => {
    const shown = await Promise.all(agents.map((agent) => get(`/v1/agents/${agent}`)));
    return shown.every((each) => each.budgets[0].held_minor === 0);
  };
  const spent = await spendThroughGateways({ purser_url: s.url, adapter_key, keys, kills, isSettled });
  const counted: number = (await standing()).used_minor;
  const shown = `${kills} kills: billed ${spent.billed}, counted ${counted}, ${JSON.stringify(spent.endings)}`;
  if (IS_LONG) process.stdout.write(`${shown}\n`);
  return { ...spent, counted, shown };
}

test('gateways that are killed at random bill no more than is counted, and count at most the shared budget and nine tenths of it', async () => {
  for (let run = 0; run < RUNS; run += 1) {
    const { billed, counted, shown } = await spendBudget(3);
    expect(billed, shown).toBeLessThanOrEqual(counted);
    expect(counted, shown).toBeLessThanOrEqual(LIMIT_MINOR);
    expect(counted, shown).toBeGreaterThanOrEqual(0.9 * LIMIT_MINOR);
  }
  expect((await get('/v1/ledger/verify')).valid).toBe(true);
});

test('without a kill nine tenths of the shared budget are billed', async () => {
  for (let run = 0; run < RUNS; run += 1) {
    const { billed, counted, shown } = await spendBudget(0);
    expect(billed, shown).toBeLessThanOrEqual(counted);
    expect(counted, shown).toBeLessThanOrEqual(LIMIT_MINOR);
    expect(billed, shown).toBeGreaterThanOrEqual(0.9 * LIMIT_MINOR);
  }
});

test('a soft cap overspends with the same calls', async () => {
  let overspent = 0;
  for (let run = 0; run < RUNS; run += 1) {
    const { billed } = await spendThroughSoftCap();
    if (billed > LIMIT_MINOR) overspent += 1;
  }
  if (IS_LONG) process.stdout.write(`soft cap: ${overspent} of ${RUNS}\n`);
  expect(overspent).toBeGreaterThanOrEqual(0.95 * RUNS);
});
