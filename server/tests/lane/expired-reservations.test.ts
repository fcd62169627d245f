import { expect } from 'vitest';
import { AUTHORITY } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { until } from '../support/until.ts';

const { test, s, ask: decide, ...client } = serviceTest({ env: { REVIEW_TTL_SECONDS: '1' } });

const get = (id: string) => client.get(`/v1/decisions/${id}`);

test('a pending review that ran out frees its money for the next decision, is EXPIRED and nobody’s denial', async () => {
  const body = {
    slug: 'e',
    mode: 'ENFORCE',
    authority: { ...AUTHORITY, review_threshold_minor: 10, monthly_budget_minor: 1_000 },
  };
  await s.call('POST', '/v1/agents', { body });
  const pending = await decide('e', 1_000);
  expect(pending).toMatchObject({
    decision: 'REVIEW',
    review_state: 'PENDING',
    effective_decision: 'REVIEW',
  });
  expect(Date.parse(pending.reservation.expires_at) - Date.parse(pending.created_at)).toBe(1_000);
  expect((await decide('e', 5)).reason_codes).toEqual(['MONTHLY_BUDGET_EXCEEDED']);
  await until(async () => (await get(pending.decision_id)).review_state === 'EXPIRED');
  const expired = await get(pending.decision_id);
  expect(expired).toMatchObject({
    decision: 'REVIEW',
    effective_decision: 'REVIEW',
    reservation: {
      status: 'EXPIRED',
      amount_minor: 1_000,
      budget: { held_minor: 0, remaining_minor: 1_000 },
    },
  });
  expect(await decide('e', 5)).toMatchObject({
    decision: 'ALLOW',
    reservation: { budget: { held_minor: 5 } },
  });
});

test('each hold runs out once in the history, whoever gets to it first, and the counters agree', async () => {
  const authority = { ...AUTHORITY, review_threshold_minor: 10, monthly_budget_minor: 100_000 };
  await s.call('POST', '/v1/agents', { body: { slug: 'race', mode: 'ENFORCE', authority } });
  const made = await Promise.all(Array.from({ length: 40 }, () => decide('race', 100)));
  // Decisions and the sweep race for the same holds.
  const held = async () =>
    Number(
      (
        await s.sql(
          "select held_minor from budgets b join agents a using (workspace_id, agent_id) where slug = 'race'",
        )
      ).rows[0].held_minor,
    );
  let small = 0;
  await until(async () => {
    await decide('race', 1);
    small += 1;
    return (await held()) === small;
  });
  const { rows } = await s.sql(
    "select subject_id, count(*)::int as n from ledger_events where type = 'reservation.expired' and subject_id = any($1) group by 1",
    [made.map((each) => each.reservation.reservation_id)],
  );
  expect(rows).toHaveLength(40);
  expect(new Set(rows.map((row) => row.n))).toEqual(new Set([1]));
  expect((await s.sql('select count(*)::int as n from expiring_holds')).rows[0].n).toBe(0);
  expect((await s.call('GET', '/v1/ledger/verify')).body.valid).toBe(true);
});

test('in SHADOW nothing runs out', async () => {
  const authority = { ...AUTHORITY, review_threshold_minor: 10 };
  await s.call('POST', '/v1/agents', { body: { slug: 'shadow', authority } });
  const pending = await decide('shadow', 100);
  await new Promise((wait) => setTimeout(wait, 1_500));
  expect(await get(pending.decision_id)).toMatchObject({
    review_state: 'PENDING',
    effective_decision: 'ALLOW',
    reservation: { status: 'HELD', expires_at: null, budget: { held_minor: 100 } },
  });
});
