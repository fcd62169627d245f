import { expect } from 'vitest';
import { AUTHORITY, makeKey } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, get, post, ask: askFor } = serviceTest();

const budgets = async (agent: string, key?: string) => (await get(`/v1/agents/${agent}`, key)).budgets;

test('an agent tells what is left of its month, by currency, and its own key may ask', async () => {
  const created = await post('/v1/agents', { slug: 'planner' });
  expect(await budgets('planner')).toEqual([]);

  await post('/v1/agents/planner/authority', { ...AUTHORITY, monthly_budget_minor: 10_000 });
  const nothing = { held_minor: 0, committed_minor: 0 };
  const euros = { currency: 'EUR', limit_minor: 10_000 };
  expect(await budgets('planner')).toEqual([{ ...euros, ...nothing, remaining_minor: 10_000 }]);

  const ask = (amount_minor: number) => askFor('planner', amount_minor);
  await ask(3_000);
  const paid = await ask(2_000);
  const outcome = { type: 'SPEND_EXECUTED', amount_minor: 1_500 };
  await post(`/v1/decisions/${paid.decision_id}/outcomes`, outcome);
  const { key } = await makeKey(s, { agent_id: created.id });
  const left = { ...euros, held_minor: 3_000, committed_minor: 1_500, remaining_minor: 5_500 };
  expect(await budgets('planner', key)).toEqual([left]);
  expect((await ask(1)).reservation.budget).toEqual({
    limit_minor: 10_000,
    held_minor: 3_001,
    committed_minor: 1_500,
    remaining_minor: 5_499,
  });

  // The authority is in another currency from now on: what was spent in the old one still shows, without a limit.
  await post('/v1/agents/planner/authority', { ...AUTHORITY, currency: 'USD' });
  expect(await budgets('planner')).toEqual([
    { currency: 'USD', limit_minor: null, ...nothing, remaining_minor: null },
    { currency: 'EUR', limit_minor: null, held_minor: 3_001, committed_minor: 1_500, remaining_minor: null },
  ]);
});
