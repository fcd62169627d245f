import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  AUTHORITY,
  freshKey,
  makeKey,
  type RunningService,
  spend,
  startTestService,
} from '../support/running-service.ts';

let s: RunningService;
beforeAll(async () => {
  s = await startTestService();
});
afterAll(() => s.stop());

const budgets = async (agent: string, key?: string) =>
  (await s.call('GET', `/v1/agents/${agent}`, key === undefined ? {} : { key })).body.budgets;

test('an agent tells what is left of its month, by currency, and its own key may ask', async () => {
  const created = await s.call('POST', '/v1/agents', { body: { slug: 'planner' } });
  expect(await budgets('planner')).toEqual([]);

  await s.call('POST', '/v1/agents/planner/authority', {
    body: { ...AUTHORITY, monthly_budget_minor: 10_000 },
  });
  const nothing = { held_minor: 0, committed_minor: 0 };
  const euros = { currency: 'EUR', limit_minor: 10_000 };
  expect(await budgets('planner')).toEqual([{ ...euros, ...nothing, remaining_minor: 10_000 }]);

  const ask = async (amount_minor: number, extra = {}) =>
    (
      await s.call('POST', '/v1/decisions', {
        body: spend('planner', amount_minor, extra),
        idempotency_key: freshKey(),
      })
    ).body;
  await ask(3_000);
  const paid = await ask(2_000);
  const outcome = { type: 'SPEND_EXECUTED', amount_minor: 1_500 };
  await s.call('POST', `/v1/decisions/${paid.decision_id}/outcomes`, { body: outcome });
  const { key } = await makeKey(s, { agent_id: created.body.id });
  const left = { ...euros, held_minor: 3_000, committed_minor: 1_500, remaining_minor: 5_500 };
  expect(await budgets('planner', key)).toEqual([left]);
  expect((await ask(1)).reservation.budget).toEqual({
    limit_minor: 10_000,
    held_minor: 3_001,
    committed_minor: 1_500,
    remaining_minor: 5_499,
  });

  // The authority is in another currency from now on: what was spent in the old one still shows, without a limit.
  await s.call('POST', '/v1/agents/planner/authority', { body: { ...AUTHORITY, currency: 'USD' } });
  expect(await budgets('planner')).toEqual([
    { currency: 'USD', limit_minor: null, ...nothing, remaining_minor: null },
    { currency: 'EUR', limit_minor: null, held_minor: 3_001, committed_minor: 1_500, remaining_minor: null },
  ]);
});
