import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { refoldStates } from '../../src/engine/migration/refold-states.ts';
import { connectOnce } from '../../src/engine/storage/database.ts';
import { AUTHORITY } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const BEGIN_MS = Date.UTC(2026, 10, 21, 8);
const PLACES = new URL('../../migrations/010.do.places.sql', import.meta.url);
const LISTS = new URL('../../migrations/014.do.lists.sql', import.meta.url);

const env = { CAPABILITY_TTL_SECONDS: '60' };
const { test, s, get, post, ask, keyWith } = serviceTest({
  plan: 'enterprise',
  stopped_at_ms: BEGIN_MS,
  env,
});
let adapter: string;
test.beforeAll(async () => {
  adapter = await keyWith('consume');
});

/** Decides a spend of 1,000, consumes it where that is asked, and reports. */
async function made(agent: string, consumed: boolean, reports: { key?: string; body: object }[]) {
  const { decision_id, capability } = await ask(agent, 1_000, { action: { payee_id: 'stripe:acct_1' } });
  if (consumed) {
    const { token } = capability;
    const used = { token, amount_minor: 1_000, currency: 'EUR', payee_id: 'stripe:acct_1' };
    await post('/v1/capabilities/consume', used, adapter);
  }
  for (const { key, body } of reports) await post(`/v1/decisions/${decision_id}/outcomes`, body, key);
  return decision_id as string;
}

const shown = async (id: string) => {
  const { reservation, outcome_state, verified } = await get(`/v1/decisions/${id}`);
  return [reservation.status, reservation.amount_minor, outcome_state, verified];
};
const verification = () => get('/v1/ledger/verify');

test('states that were made by the earlier rules are made anew with their budgets, and the history verifies', async () => {
  // What was paid already in the same words is unclear as soon as this node knows of it.
  const authority = { ...AUTHORITY, on_purpose_unclear: 'ALLOW' };
  for (const mode of ['ENFORCE', 'SHADOW']) {
    const body = { slug: mode.toLowerCase(), mode, authority };
    expect((await s.call('POST', '/v1/agents', { body })).status).toBe(201);
  }
  const executed = (amount_minor: number) => ({ body: { type: 'SPEND_EXECUTED', amount_minor } });
  const by_rail = (body: object) => ({ key: adapter, body: { ...body, source: 'PAYMENT_RAIL' } });
  const rail_executed = by_rail({ type: 'SPEND_EXECUTED', amount_minor: 1_000 });
  const lowered = await made('enforce', true, [executed(1)]);
  const refunded = await made('enforce', true, [rail_executed, { body: { type: 'REFUNDED' } }]);
  const believed = await made('shadow', false, [rail_executed, { body: { type: 'REFUNDED' } }]);
  const untouched = await made('enforce', true, [executed(1_000)]);
  await made('enforce', false, []);
  await s.setClock(BEGIN_MS + 61_000);
  await made('enforce', false, []);
  const ids = [lowered, refunded, believed, untouched];
  const right = await Promise.all(ids.map(shown));
  expect(await verification()).toMatchObject({ valid: true });
  const budgets = 'select agent_id, period, held_minor, committed_minor from budgets order by 1, 2';
  const before = (await s.sql(budgets)).rows;

  // As an earlier release would have left it.
  await s.sql('update decision_states set amount_minor = 1 where decision_id = $1', [lowered]);
  await s.sql('update decision_states set amount_minor = 0, verified = true where decision_id = $1', [
    refunded,
  ]);
  await s.sql('update decision_states set verified = true where decision_id = $1', [believed]);
  await s.sql(
    'update budgets set committed_minor = committed_minor - 1999 where agent_id = (select agent_id from decisions where decision_id = $1)',
    [lowered],
  );
  const events =
    'select capability_id as id, event_id from consumptions union all select reservation_id, event_id from expired_reservations order by 1';
  const places = (await s.sql(events)).rows;
  expect(places).toHaveLength(4);
  await s.sql('alter table consumptions drop column event_id');
  await s.sql('alter table expired_reservations drop column event_id');
  await s.sql('drop table states_to_refold');
  // The migration knows the table under the name that it had then.
  await s.sql('alter table expired_reservations rename to run_out_holds');

  await s.sql(readFileSync(PLACES, 'utf8'));
  await s.sql('alter table run_out_holds rename to expired_reservations');
  await s.sql('grant all on states_to_refold to public');
  const owner = await connectOnce(s.database.connection);
  const version = 'select seq, time_ms from ledger_heads';
  const [head] = (await s.sql(version)).rows;
  await refoldStates(owner).finally(() => owner.end());
  // Nodes that serve meanwhile know counters as of a head, so it moves with them.
  expect((await s.sql(version)).rows).toEqual([{ ...head, time_ms: String(Number(head.time_ms) + 1) }]);
  expect((await s.sql(events)).rows).toEqual(places);
  expect(await Promise.all(ids.map(shown))).toEqual(right);
  expect((await s.sql(budgets)).rows).toEqual(before);
  expect(await verification()).toMatchObject({ valid: true, breaks: [] });
  expect((await s.sql('select * from states_to_refold')).rows).toEqual([]);
});

test('what waited in SHADOW before such decisions had states is given one, and is found among what waits', async () => {
  const authority = { ...AUTHORITY, review_threshold_minor: 100 };
  const agents = { waits: 'SHADOW', settled: 'ENFORCE' };
  for (const [slug, mode] of Object.entries(agents)) {
    expect((await s.call('POST', '/v1/agents', { body: { slug, mode, authority } })).status).toBe(201);
  }
  const waiting = await made('waits', false, []);
  const settled = await made('settled', false, [{ body: { type: 'SPEND_EXECUTED', amount_minor: 900 } }]);
  const found = async () =>
    (await s.call('GET', '/v1/decisions?review_state=PENDING')).body.data.map(
      (each: { decision_id: string }) => each.decision_id,
    );
  expect(await found()).toEqual([settled, waiting]);
  const states = 'select * from decision_states order by decision_id';
  const before = (await s.sql(states)).rows;
  const budgets = (await s.sql('select * from budgets order by 1, 2, 3, 4')).rows;

  // As an earlier release would have left it.
  await s.sql('delete from decision_states where decision_id = $1', [waiting]);
  await s.sql('update decision_states set expires_at = null where decision_id = $1', [settled]);
  expect(await verification()).toMatchObject({ valid: false });
  const [naming] = /insert into states_to_refold[^;]*;/.exec(readFileSync(LISTS, 'utf8')) ?? [];
  await s.sql(naming as string);
  expect((await s.sql('select * from states_to_refold')).rowCount).toBeGreaterThanOrEqual(2);
  const owner = await connectOnce(s.database.connection);
  await refoldStates(owner).finally(() => owner.end());
  expect((await s.sql(states)).rows).toEqual(before);
  expect((await s.sql('select * from budgets order by 1, 2, 3, 4')).rows).toEqual(budgets);
  expect(await found()).toEqual([settled, waiting]);
  expect(await verification()).toMatchObject({ valid: true, breaks: [] });
});
