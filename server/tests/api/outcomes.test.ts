import { describe, expect } from 'vitest';
import { fieldOf, makeKey, type Reply, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const BEGIN_MS = Date.UTC(2026, 10, 21, 8);
let now_ms = BEGIN_MS;
let adapter: string;
let reviewer: string;

const client = serviceTest({
  stopped_at_ms: BEGIN_MS,
  plan: 'enterprise',
  env: { REVIEW_TTL_SECONDS: '600', CAPABILITY_TTL_SECONDS: '60' },
});
const { test, s, ask, keyWith } = client;
test.beforeAll(async () => {
  adapter = await keyWith('consume');
  reviewer = await keyWith('review', 'read');
});

const setClock = (time_ms: number) => {
  now_ms = time_ms;
  return s.setClock(now_ms);
};
const wait = (seconds: number) => setClock(now_ms + seconds * 1000);
const agent = (mode: 'SHADOW' | 'ENFORCE', authority: object = {}) =>
  client.makeAgent({ monthly_budget_minor: 1_000, ...authority }, { mode });
const get = (id: string) => client.get(`/v1/decisions/${id}`);
const report = (id: string, body: object, key?: string) =>
  s.call('POST', `/v1/decisions/${id}/outcomes`, { body, ...(key === undefined ? {} : { key }) });
const rail = (id: string, body: object) => report(id, { source: 'PAYMENT_RAIL', ...body }, adapter);
const executed = (amount_minor: number) => ({ type: 'SPEND_EXECUTED', amount_minor });
const refunded = (amount_minor: number, external_reference?: string) => ({
  type: 'PARTIALLY_REFUNDED',
  amount_minor,
  external_reference,
});
/** What the month's counter says, and that the database's own row says the same. */
async function counter(id: string) {
  const { reservation, agent: of } = await get(id);
  const { held_minor, committed_minor, remaining_minor } = reservation.budget;
  const { rows } = await s.sql(
    'select held_minor, committed_minor from budgets where agent_id = $1 and period = $2 and currency = $3',
    [of.id, reservation.period, reservation.currency],
  );
  expect(rows[0] ?? { held_minor: '0', committed_minor: '0' }).toEqual({
    held_minor: String(held_minor),
    committed_minor: String(committed_minor),
  });
  return [held_minor, committed_minor, remaining_minor];
}
const flags = (reply: Reply) => {
  expect(reply.status).toBe(201);
  return reply.body.flags;
};

describe('POST /v1/decisions/:id/outcomes', () => {
  describe('201', () => {
    test('an executed spend commits what was spent and frees the rest, with who said so and when', async () => {
      const made = await ask(await agent('SHADOW'), 500);
      expect(await counter(made.decision_id)).toEqual([500, 0, 500]);
      const reply = await report(made.decision_id, {
        ...executed(420),
        external_reference: ' inv-1 ',
        occurred_at: '2026-11-21T10:00:00.5+02:00',
      });
      expect(reply.status).toBe(201);
      const { outcome_id, recorded_at, reported_by, ...rest } = reply.body;
      expect(rest).toEqual({
        decision_id: made.decision_id,
        type: 'SPEND_EXECUTED',
        amount_minor: 420,
        currency: 'EUR',
        external_reference: 'inv-1',
        occurred_at: '2026-11-21T08:00:00.500Z',
        source: 'CLIENT_REPORTED',
        flags: [],
      });
      expect(reported_by).toEqual(made.requested_by);
      expect(Date.parse(recorded_at)).toBeGreaterThanOrEqual(Date.parse(made.created_at));
      expect(await get(made.decision_id)).toMatchObject({
        outcome_state: 'EXECUTED',
        verified: false,
        reservation: { status: 'COMMITTED', amount_minor: 420, expires_at: null },
      });
      expect(await counter(made.decision_id)).toEqual([0, 420, 580]);
      const events = (await s.call('GET', '/v1/ledger/events?limit=1')).body.data;
      expect(events[0]).toMatchObject({
        type: 'decision.outcome.recorded',
        subject: { type: 'outcome', id: outcome_id },
      });
    });

    test.each(['SPEND_FAILED', 'SPEND_CANCELLED'])(
      '%s lets the hold go, with or without an amount',
      async (type) => {
        const slug = await agent('SHADOW');
        for (const amount_minor of [undefined, 500]) {
          const made = await ask(slug, 500);
          const reply = await report(made.decision_id, { type, amount_minor });
          expect(reply.body).toMatchObject({ type, amount_minor: amount_minor ?? null, flags: [] });
          expect(await get(made.decision_id)).toMatchObject({
            outcome_state: type.slice('SPEND_'.length),
            reservation: { status: 'RELEASED', amount_minor: 500 },
          });
          expect(await counter(made.decision_id)).toEqual([0, 0, 1_000]);
        }
      },
    );

    test('refunds give back in parts, from both sources, to the last unit and never more', async () => {
      const { decision_id: id } = await ask(await agent('SHADOW'), 1_000);
      await report(id, executed(1_000));
      expect(flags(await report(id, refunded(1, 'r-1')))).toEqual([]);
      expect(await counter(id)).toEqual([0, 999, 1]);
      await rail(id, executed(1_000));
      // The rail says the same refund as the client, and one more.
      await rail(id, refunded(1, 'r-1'));
      expect(await counter(id)).toEqual([0, 999, 1]);
      await rail(id, refunded(600, 'r-2'));
      expect(await counter(id)).toEqual([0, 399, 601]);
      expect(refusal(await report(id, refunded(400, 'r-3')))).toEqual([409, 'outcome_conflict']);
      expect(await get(id)).toMatchObject({ outcome_state: 'PARTIALLY_REFUNDED', verified: true });
      // A refund that only the client speaks of gives back where no capability was consumed, and verifies nothing.
      await report(id, refunded(398, 'r-3'));
      expect(await get(id)).toMatchObject({ outcome_state: 'PARTIALLY_REFUNDED', verified: false });
      const last = await report(id, { type: 'REFUNDED' });
      expect(last.body.amount_minor).toBe(1);
      expect(await get(id)).toMatchObject({
        outcome_state: 'REFUNDED',
        reservation: { status: 'COMMITTED', amount_minor: 0 },
      });
      expect(await counter(id)).toEqual([0, 0, 1_000]);
      expect(refusal(await report(id, refunded(1, 'r-4')))).toEqual([409, 'outcome_conflict']);
    });

    test('partial refunds that reach the amount make it REFUNDED', async () => {
      const { decision_id: id } = await ask(await agent('SHADOW'), 100);
      await report(id, executed(100));
      await report(id, refunded(40, 'a'));
      expect(refusal(await report(id, refunded(61, 'b')))).toEqual([409, 'outcome_conflict']);
      await report(id, refunded(60, 'b'));
      expect((await get(id)).outcome_state).toBe('REFUNDED');
      expect(await counter(id)).toEqual([0, 0, 1_000]);
    });

    test('the rail prevails over the client, in whichever direction, and the contradiction is flagged', async () => {
      const slug = await agent('SHADOW', { monthly_budget_minor: 10_000 });
      const claims: [client: object, from_rail: object, counted: number, state: string][] = [
        [executed(100), executed(90), 90, 'EXECUTED'],
        [executed(90), executed(100), 100, 'EXECUTED'],
        [{ type: 'SPEND_FAILED' }, executed(100), 100, 'EXECUTED'],
        [executed(100), { type: 'SPEND_FAILED' }, 0, 'FAILED'],
        [{ type: 'SPEND_CANCELLED' }, { type: 'SPEND_FAILED' }, 0, 'FAILED'],
      ];
      let before = 0;
      for (const [client, from_rail, counted, state] of claims) {
        const { decision_id: id } = await ask(slug, 100);
        await report(id, client);
        expect(flags(await rail(id, from_rail))).toContain('CONTRADICTS_CLIENT');
        expect(await get(id)).toMatchObject({ outcome_state: state, verified: false });
        before += counted;
        expect(await counter(id)).toEqual([0, before, 10_000 - before]);
      }
    });

    test('the same from the other source corroborates, whichever spoke first; only the rail’s word verifies', async () => {
      const slug = await agent('SHADOW');
      const { decision_id: one } = await ask(slug, 100);
      await report(one, executed(100));
      expect((await get(one)).verified).toBe(false);
      expect(flags(await rail(one, executed(100)))).toEqual([]);
      expect((await get(one)).verified).toBe(true);
      const { decision_id: two } = await ask(slug, 100);
      await rail(two, executed(100));
      expect(flags(await report(two, executed(100)))).toEqual([]);
      expect((await get(two)).verified).toBe(true);
      expect(await counter(two)).toEqual([0, 200, 800]);
    });

    test('a key with consume may report as either, in SHADOW too', async () => {
      const { decision_id: id } = await ask(await agent('SHADOW'), 100);
      const client = await report(id, executed(100), adapter);
      expect([client.status, client.body.source]).toEqual([201, 'CLIENT_REPORTED']);
      expect((await rail(id, executed(100))).body.source).toBe('PAYMENT_RAIL');
    });
  });

  describe('201: flags', () => {
    test('OVER_AUTHORIZED: one unit over what was authorized, and every execution of what was not', async () => {
      const slug = await agent('SHADOW', { review_threshold_minor: 100, per_transaction_limit_minor: 300 });
      const within = await ask(slug, 100);
      expect(flags(await report(within.decision_id, executed(100)))).toEqual([]);
      const over = await ask(slug, 100);
      expect(flags(await report(over.decision_id, executed(101)))).toEqual(['OVER_AUTHORIZED']);
      const capped = await ask(slug, 301, { limitable: true });
      expect(capped.reservation.amount_minor).toBe(300);
      const allowed = await ask(slug, 200);
      await s.call('POST', `/v1/decisions/${allowed.decision_id}/reviews`, {
        key: reviewer,
        body: { action: 'ALLOW', reason_code: 'OK' },
      });
      expect(flags(await report(allowed.decision_id, executed(200)))).toEqual([]);
    });

    test('UNAUTHORIZED_EXECUTION: in ENFORCE what is not allowed at that moment, never in SHADOW', async () => {
      const limits = { review_threshold_minor: 100, per_transaction_limit_minor: 300 };
      const slug = await agent('ENFORCE', { ...limits, monthly_budget_minor: 100_000 });
      const review = (id: string, action: string) =>
        s.call('POST', `/v1/decisions/${id}/reviews`, { key: reviewer, body: { action, reason_code: 'X' } });
      const unauthorized = ['OVER_AUTHORIZED', 'UNAUTHORIZED_EXECUTION'];
      const denied = await ask(slug, 301);
      expect(flags(await report(denied.decision_id, executed(301)))).toEqual(unauthorized);
      const pending = await ask(slug, 200);
      expect(flags(await report(pending.decision_id, executed(200)))).toEqual(unauthorized);
      const refused = await ask(slug, 200);
      await review(refused.decision_id, 'DENY');
      expect(flags(await report(refused.decision_id, executed(200)))).toEqual([...unauthorized, 'LATE']);
      const allowed = await ask(slug, 200);
      await review(allowed.decision_id, 'ALLOW');
      expect(flags(await report(allowed.decision_id, executed(200)))).toEqual([]);
      const forgotten = await ask(slug, 200);
      await wait(601);
      expect(flags(await report(forgotten.decision_id, executed(200)))).toEqual([...unauthorized, 'LATE']);
      const shadow = await ask(await agent('SHADOW', limits), 301);
      expect(flags(await report(shadow.decision_id, executed(301)))).toEqual(['OVER_AUTHORIZED']);
      // All that was executed counts, allowed or not.
      expect((await counter(denied.decision_id)).slice(0, 2)).toEqual([0, 301 + 4 * 200]);
    });

    test('LATE: the hold was let go before, by time or by a report that the rail now contradicts', async () => {
      const slug = await agent('ENFORCE');
      const bound = await ask(slug, 100, { action: { payee_id: 'stripe:acct_1' } });
      await wait(61);
      expect((await get(bound.decision_id)).reservation.status).toBe('EXPIRED');
      expect(flags(await rail(bound.decision_id, executed(100)))).toEqual(['LATE']);
      expect(await get(bound.decision_id)).toMatchObject({
        outcome_state: 'EXECUTED',
        reservation: { status: 'COMMITTED', amount_minor: 100 },
      });
      const cancelled = await ask(slug, 100);
      await report(cancelled.decision_id, { type: 'SPEND_CANCELLED' });
      expect(flags(await rail(cancelled.decision_id, executed(100)))).toEqual(['LATE', 'CONTRADICTS_CLIENT']);
      expect(await counter(bound.decision_id)).toEqual([0, 200, 800]);
    });
  });

  describe('201: a later, higher capture', () => {
    test('of the rail raises what counts, also after refunds; an equal one counts nothing more, a lower one is 409', async () => {
      const { decision_id: id } = await ask(await agent('ENFORCE'), 500);
      expect(flags(await rail(id, executed(500)))).toEqual([]);
      const again = await rail(id, { ...executed(500), external_reference: 'ch_2' });
      expect(flags(again)).toEqual([]);
      expect(await counter(id)).toEqual([0, 500, 500]);
      expect(flags(await rail(id, executed(700)))).toEqual(['OVER_AUTHORIZED', 'ADJUSTED']);
      expect(await counter(id)).toEqual([0, 700, 300]);
      for (const lower of [executed(699), { ...executed(500), external_reference: 'ch_3' }]) {
        expect(refusal(await rail(id, lower))).toEqual([409, 'outcome_conflict']);
      }
      // Exact repeats come first, also of what is lower by now.
      const repeat = await rail(id, { ...executed(500), external_reference: 'ch_2' });
      expect([repeat.status, repeat.body]).toEqual([200, again.body]);
      await rail(id, refunded(100, 'r-1'));
      expect(flags(await rail(id, executed(750)))).toEqual(['OVER_AUTHORIZED', 'ADJUSTED']);
      expect(await get(id)).toMatchObject({ outcome_state: 'PARTIALLY_REFUNDED', verified: true });
      expect(await counter(id)).toEqual([0, 650, 350]);
      await rail(id, { type: 'REFUNDED' });
      expect(await counter(id)).toEqual([0, 0, 1_000]);
      expect(flags(await rail(id, executed(800)))).toEqual(['OVER_AUTHORIZED', 'ADJUSTED']);
      expect(await get(id)).toMatchObject({
        outcome_state: 'PARTIALLY_REFUNDED',
        verified: true,
        reservation: { status: 'COMMITTED', amount_minor: 50 },
      });
      expect(await counter(id)).toEqual([0, 50, 950]);
      expect((await rail(id, { type: 'REFUNDED', amount_minor: 50 })).status).toBe(201);
      expect(await get(id)).toMatchObject({ outcome_state: 'REFUNDED', verified: true });
    });

    test('counts in limits over time and in shared budgets too, and leaves no way to lower what the rail said', async () => {
      await client.post('/v1/budgets', {
        slug: 'captures',
        name: 'Captures',
        currency: 'EUR',
        period: 'MONTH',
        limit_minor: 1_000,
      });
      const slug = await agent('ENFORCE', {
        budgets: ['captures'],
        velocity_limits: [{ name: 'day', window: 'DAY', limit_amount_minor: 1_000 }],
      });
      const { decision_id: id, capability } = await ask(slug, 500);
      const consumed = await s.call('POST', '/v1/capabilities/consume', {
        key: adapter,
        idempotency_key: `capture-${id}`,
        body: { token: capability.token, amount_minor: 500, currency: 'EUR' },
      });
      expect(consumed.status).toBe(201);
      const used = async () => {
        const { body } = await s.call('GET', `/v1/agents/${slug}/limits`);
        return body.data.map((one: { name: string; used_minor: number }) => one.used_minor);
      };
      await rail(id, executed(300));
      expect(await used()).toEqual([300, 300, 300]);
      await rail(id, executed(900));
      expect(await used()).toEqual([900, 900, 900]);
      expect(refusal(await report(id, executed(950)))).toEqual([409, 'outcome_conflict']);
      expect((await ask(slug, 101)).decision).toBe('DENY');
      expect((await ask(slug, 100)).decision).toBe('ALLOW');
    });

    test('of a client is a conflict, and so is one after the rail reported a failed payment', async () => {
      const slug = await agent('SHADOW');
      const { decision_id: claimed } = await ask(slug, 100);
      await report(claimed, executed(100));
      expect(refusal(await report(claimed, executed(200)))).toEqual([409, 'outcome_conflict']);
      const { decision_id: failed } = await ask(slug, 100);
      await rail(failed, { type: 'SPEND_FAILED' });
      expect(refusal(await rail(failed, executed(200)))).toEqual([409, 'outcome_conflict']);
    });

    test('leaves a client that reported what the rail did at the time uncontradicted', async () => {
      const { decision_id: id } = await ask(await agent('SHADOW'), 100);
      await rail(id, executed(100));
      await rail(id, executed(150));
      expect(flags(await report(id, executed(100)))).toEqual([]);
      expect((await get(id)).verified).toBe(true);
      expect(flags(await rail(id, executed(160)))).toEqual(['OVER_AUTHORIZED', 'ADJUSTED']);
      expect((await get(id)).verified).toBe(true);
      expect(await counter(id)).toEqual([0, 160, 840]);
    });
  });

  describe('200: an exact repeat', () => {
    test('answers the stored record, in any state, even long after, and writes nothing', async () => {
      const { decision_id: id } = await ask(await agent('SHADOW'), 100);
      const bodies = [
        { ...executed(100), external_reference: 'e' },
        refunded(30, 'r'),
        { type: 'REFUNDED' },
        { type: 'REFUNDED', amount_minor: 70 },
      ];
      const stored: unknown[] = [];
      for (const body of bodies.slice(0, 3)) stored.push((await report(id, body)).body);
      stored.push(stored[2]);
      await wait(86_400);
      const head = async () => (await s.call('GET', '/v1/ledger/events?limit=1')).body.data[0].seq;
      const before = await head();
      for (const [i, body] of bodies.entries()) {
        // When it happened is not a part of what is repeated.
        const again = await report(id, { ...body, currency: 'EUR', occurred_at: '2026-11-01T00:00:00Z' });
        expect([again.status, again.body]).toEqual([200, stored[i]]);
      }
      expect(await head()).toBe(before);
      expect((await s.call('GET', `/v1/decisions/${id}/outcomes`)).body.data).toHaveLength(3);
    });
    test('of another key is one too: it says the same of the same spend', async () => {
      const { decision_id: id } = await ask(await agent('SHADOW'), 100);
      const first = await report(id, executed(100));
      const again = await report(id, executed(100), adapter);
      expect([again.status, again.body]).toEqual([200, first.body]);
    });
  });

  describe('400', () => {
    test.each<[string, object, string]>([
      ['no type', { amount_minor: 1 }, 'type'],
      ['another type', { type: 'EXECUTED', amount_minor: 1 }, 'type'],
      ['an execution without an amount', { type: 'SPEND_EXECUTED' }, 'amount_minor'],
      ['a partial refund without an amount', { type: 'PARTIALLY_REFUNDED' }, 'amount_minor'],
      ['an amount of 0', executed(0), 'amount_minor'],
      ['a negative amount', executed(-1), 'amount_minor'],
      ['half a unit', executed(1.5), 'amount_minor'],
      ['text for an amount', { type: 'SPEND_EXECUTED', amount_minor: '1' }, 'amount_minor'],
      ['an amount beyond the safe integers', executed(2 ** 53), 'amount_minor'],
      ['a currency in small letters', { ...executed(1), currency: 'eur' }, 'currency'],
      ['a reference over 200', { ...executed(1), external_reference: 'x'.repeat(201) }, 'external_reference'],
      ['an empty reference', { ...executed(1), external_reference: '' }, 'external_reference'],
      ['a time without an offset', { ...executed(1), occurred_at: '2026-11-21T08:00:00' }, 'occurred_at'],
      ['a date', { ...executed(1), occurred_at: '2026-11-21' }, 'occurred_at'],
      ['another source', { ...executed(1), source: 'RAIL' }, 'source'],
      ['flags of its own', { ...executed(1), flags: [] }, 'flags'],
    ])('%s names the field and writes nothing', async (_name, body, field) => {
      const { decision_id: id } = await ask(await agent('SHADOW'), 100);
      const reply = await report(id, body);
      expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', field]);
      expect((await get(id)).outcome_state).toBe('NONE');
      expect(await counter(id)).toEqual([100, 0, 900]);
    });

    test('occurred_at may be up to 5 minutes ahead of the service’s clock, and as old as it likes', async () => {
      const slug = await agent('SHADOW');
      const at = (ms: number) => ({ ...executed(1), occurred_at: new Date(ms).toISOString() });
      const { decision_id: id } = await ask(slug, 100);
      // Each batch is a millisecond later than the one before, however the clock stands.
      await wait(10);
      const reply = await report(id, at(now_ms + 300_001));
      expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', 'occurred_at']);
      expect((await report(id, at(now_ms + 300_000))).status).toBe(201);
      const { decision_id: other } = await ask(slug, 100);
      expect((await report(other, at(0))).body.occurred_at).toBe('1970-01-01T00:00:00.000Z');
    });

    test('an amount that the month’s counter could not carry exactly is refused', async () => {
      const slug = await agent('SHADOW', { monthly_budget_minor: undefined });
      const { decision_id: one } = await ask(slug, 1);
      const { decision_id: two } = await ask(slug, 1);
      expect((await report(one, executed(Number.MAX_SAFE_INTEGER - 1))).status).toBe(201);
      const reply = await report(two, executed(2));
      expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', 'amount_minor']);
      expect((await get(two)).reservation.budget).toMatchObject({
        held_minor: 1,
        committed_minor: Number.MAX_SAFE_INTEGER - 1,
      });
      expect((await report(two, executed(1))).status).toBe(201);
      await report(one, { type: 'REFUNDED' });
      expect((await get(two)).reservation.budget).toMatchObject({ held_minor: 0, committed_minor: 1 });
    });
  });

  test('403 insufficient_scope for PAYMENT_RAIL without the scope consume, on any decision, and nothing is written', async () => {
    const slug = await agent('SHADOW');
    const bound = (await makeKey(s, { agent_id: slug })).key;
    const { decision_id: id } = await ask(slug, 100);
    for (const key of [bound, s.admin_key]) {
      const reply = await report(id, { ...executed(100), source: 'PAYMENT_RAIL' }, key);
      expect(refusal(reply)).toEqual([403, 'insufficient_scope']);
    }
    const both = (await makeKey(s, { scopes: ['admin', 'consume'] })).key;
    expect((await get(id)).outcome_state).toBe('NONE');
    expect((await report(id, { ...executed(100), source: 'PAYMENT_RAIL' }, both)).status).toBe(201);
    expect((await get(id)).verified).toBe(true);
  });

  test('404 for another agent’s decision with an agent’s key, and for another workspace’s with any key', async () => {
    const other = await s.addWorkspace({ plan: 'team' });
    const mine = await agent('SHADOW');
    const bound = (await makeKey(s, { agent_id: mine })).key;
    const { decision_id: id } = await ask(await agent('SHADOW'), 100);
    const foreign_adapter = (await makeKey(s, { scopes: ['consume'] }, other.admin_key)).key;
    for (const key of [bound, other.admin_key, foreign_adapter]) {
      expect(refusal(await report(id, executed(100), key))).toEqual([404, 'not_found']);
    }
    expect((await get(id)).outcome_state).toBe('NONE');
    const own = await ask(mine, 100, {}, bound);
    expect((await report(own.decision_id, executed(100), bound)).status).toBe(201);
  });

  test('409 outcome_conflict for a report that contradicts an earlier one, and the state stays', async () => {
    const slug = await agent('SHADOW', { monthly_budget_minor: undefined });
    const refusals: [so_far: object[], then: object][] = [
      [[], refunded(1)],
      [[], { type: 'REFUNDED' }],
      [[executed(100)], executed(99)],
      [[executed(100)], { ...executed(99), external_reference: 'another' }],
      [[executed(100)], { type: 'SPEND_FAILED' }],
      [[executed(100)], { type: 'SPEND_CANCELLED' }],
      [[executed(100)], refunded(101)],
      [[executed(100)], { type: 'REFUNDED', amount_minor: 99 }],
      [[executed(100), refunded(40)], { type: 'REFUNDED', amount_minor: 100 }],
      [[executed(100), { type: 'REFUNDED' }], refunded(1)],
      [[{ type: 'SPEND_FAILED' }], executed(100)],
      [[{ type: 'SPEND_FAILED' }], { type: 'SPEND_CANCELLED' }],
      [[{ type: 'SPEND_FAILED' }], { type: 'REFUNDED' }],
      [[{ type: 'SPEND_CANCELLED' }], executed(1)],
    ];
    for (const source of ['CLIENT_REPORTED', 'PAYMENT_RAIL']) {
      for (const [so_far, then] of refusals) {
        const { decision_id: id } = await ask(slug, 100);
        for (const body of so_far) expect((await report(id, { ...body, source }, adapter)).status).toBe(201);
        const before = await get(id);
        const reply = await report(id, { ...then, source }, adapter);
        expect(refusal(reply), JSON.stringify([so_far, then])).toEqual([409, 'outcome_conflict']);
        expect(await get(id)).toEqual(before);
      }
    }
  });

  test('422 currency_mismatch for another currency, before any conflict', async () => {
    const { decision_id: id } = await ask(await agent('SHADOW'), 100);
    for (const body of [executed(100), refunded(1)]) {
      expect(refusal(await report(id, { ...body, currency: 'USD' }))).toEqual([422, 'currency_mismatch']);
    }
    expect((await report(id, { ...executed(100), currency: 'EUR' })).status).toBe(201);
  });

  test('outcomes are taken from paused and revoked agents', async () => {
    for (const status of ['paused', 'revoked']) {
      const slug = await agent('SHADOW');
      const bound = (await makeKey(s, { agent_id: slug })).key;
      const { decision_id: id } = await ask(slug, 100);
      await s.call('PATCH', `/v1/agents/${slug}`, { body: { status } });
      expect((await report(id, executed(100), bound)).status).toBe(201);
    }
  });
});

describe('GET /v1/decisions/:id/outcomes', () => {
  test('200 with all outcomes, newest first, as they were answered', async () => {
    const slug = await agent('SHADOW');
    const bound = (await makeKey(s, { agent_id: slug })).key;
    const { decision_id: id } = await ask(slug, 100);
    const list = (key?: string) =>
      s.call('GET', `/v1/decisions/${id}/outcomes`, key === undefined ? {} : { key });
    expect((await list()).body).toEqual({ data: [], next_cursor: null });
    const given = [
      (await report(id, executed(100))).body,
      (await rail(id, executed(100))).body,
      (await rail(id, refunded(10))).body,
    ];
    for (const key of [undefined, bound, reviewer]) {
      expect((await list(key)).body).toEqual({ data: [...given].reverse(), next_cursor: null });
    }
  });
  test('403 without the scope, 404 for a decision that the key cannot see', async () => {
    const { decision_id: id } = await ask(await agent('SHADOW'), 100);
    const stranger = (await makeKey(s, { agent_id: await agent('SHADOW') })).key;
    const path = `/v1/decisions/${id}/outcomes`;
    expect(refusal(await s.call('GET', path, { key: adapter }))).toEqual([403, 'insufficient_scope']);
    expect(refusal(await s.call('GET', path, { key: stranger }))).toEqual([404, 'not_found']);
    const nothing = '/v1/decisions/dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BD/outcomes';
    expect(refusal(await s.call('GET', nothing))).toEqual([404, 'not_found']);
    expect(refusal(await s.call('GET', `${path}?limit=1`))).toEqual([400, 'invalid_request']);
  });
});

describe('the month’s budget', () => {
  test('the month’s budget is spent to its last unit, and not one more', async () => {
    const slug = await agent('SHADOW', { monthly_budget_minor: 100 });
    const one = await ask(slug, 99);
    expect((await ask(slug, 2)).decision).toBe('DENY');
    const two = await ask(slug, 1);
    expect(two.decision).toBe('ALLOW');
    expect((await ask(slug, 1)).decision).toBe('DENY');
    await report(one.decision_id, executed(98));
    expect(await counter(one.decision_id)).toEqual([1, 98, 1]);
    expect((await ask(slug, 1)).decision).toBe('ALLOW');
    expect((await ask(slug, 1)).decision).toBe('DENY');
    // More was spent than was held: the month is over its budget, and says so.
    await report(two.decision_id, executed(50));
    expect(await counter(two.decision_id)).toEqual([1, 148, 0]);
    await report(two.decision_id, refunded(49));
    expect(await counter(two.decision_id)).toEqual([1, 99, 0]);
    await report(one.decision_id, { type: 'REFUNDED' });
    expect(await counter(one.decision_id)).toEqual([1, 1, 98]);
    expect((await ask(slug, 98)).decision).toBe('ALLOW');
    expect((await ask(slug, 1)).decision).toBe('DENY');
  });

  test('an execution of what was denied counts in ENFORCE, and not in SHADOW', async () => {
    const limits = { per_transaction_limit_minor: 10 };
    const shadow = await ask(await agent('SHADOW', limits), 100);
    await report(shadow.decision_id, executed(100));
    await rail(shadow.decision_id, executed(100));
    expect(await get(shadow.decision_id)).toMatchObject({
      outcome_state: 'EXECUTED',
      verified: true,
      reservation: { status: 'NONE', amount_minor: 0, reservation_id: null },
    });
    expect(await counter(shadow.decision_id)).toEqual([0, 0, 1_000]);
    const enforced = await ask(await agent('ENFORCE', limits), 100);
    await report(enforced.decision_id, executed(100));
    expect((await get(enforced.decision_id)).reservation).toMatchObject({
      reservation_id: enforced.decision_id.replace('dec_', 'rsv_'),
      status: 'COMMITTED',
      amount_minor: 100,
    });
    expect(await counter(enforced.decision_id)).toEqual([0, 100, 900]);
  });

  test('refunds and late executions go to the month of the spend, whatever the month is by then', async () => {
    const slug = await agent('ENFORCE');
    await setClock(Date.UTC(2026, 11, 31, 23, 59, 59, 500));
    const old = await ask(slug, 600);
    const bound = await ask(slug, 400, { action: { payee_id: 'stripe:acct_1' } });
    expect(old.reservation.period).toBe('2026-12');
    await report(old.decision_id, executed(600));
    await setClock(Date.UTC(2027, 0, 1, 0, 1));
    const fresh = await ask(slug, 1_000);
    expect([fresh.decision, fresh.reservation.period]).toEqual(['ALLOW', '2027-01']);
    expect(await counter(bound.decision_id)).toEqual([0, 600, 400]);
    await rail(bound.decision_id, executed(450));
    expect(await counter(old.decision_id)).toEqual([0, 1_050, 0]);
    await report(old.decision_id, refunded(550));
    expect(await counter(old.decision_id)).toEqual([0, 500, 500]);
    expect(await counter(fresh.decision_id)).toEqual([1_000, 0, 0]);
    await report(fresh.decision_id, { type: 'SPEND_CANCELLED' });
    expect(await counter(fresh.decision_id)).toEqual([0, 0, 1_000]);
    expect((await get(old.decision_id)).reservation.period).toBe('2026-12');
  });

  test('a hold that ran out months ago goes from the counter of its own month', async () => {
    const slug = await agent('ENFORCE');
    await setClock(Date.UTC(2027, 1, 26));
    const bound = await ask(slug, 400, { action: { payee_id: 'stripe:acct_1' } });
    await setClock(Date.UTC(2027, 3, 2));
    const fresh = await ask(slug, 1_000);
    expect([fresh.decision, fresh.reservation.period]).toEqual(['ALLOW', '2027-04']);
    expect(await counter(bound.decision_id)).toEqual([0, 0, 1_000]);
    expect(await counter(fresh.decision_id)).toEqual([1_000, 0, 0]);
  });

  test('the budget is whole again at once, however many holds ran out in the same moment', async () => {
    const slug = await agent('ENFORCE', { monthly_budget_minor: 600 });
    const payee = { action: { payee_id: 'stripe:acct_1' } };
    for (let asked = 0; asked < 600; asked += 60) {
      await Promise.all(Array.from({ length: 60 }, () => ask(slug, 1, payee)));
    }
    expect((await ask(slug, 1)).decision).toBe('DENY');
    await wait(90);
    const made = await ask(slug, 600);
    expect([made.decision, made.reservation.budget.held_minor]).toEqual(['ALLOW', 600]);
    const { rows } = await s.sql(
      "select count(distinct subject_id)::int as holds, count(*)::int as events from ledger_events where type = 'reservation.expired' and subject_id in (select reservation_id from decision_states where agent_id = $1)",
      [made.agent.id],
    );
    expect(rows).toEqual([{ holds: 600, events: 600 }]);
  });

  test('each currency has a counter of its own', async () => {
    const slug = await agent('ENFORCE');
    const eur = await ask(slug, 100);
    const usd = await ask(slug, 100, { action: { currency: 'USD' } });
    expect(usd.reason_codes).toContain('CURRENCY_NOT_AUTHORIZED');
    await report(usd.decision_id, executed(70));
    expect((await get(usd.decision_id)).reservation).toMatchObject({ currency: 'USD', amount_minor: 70 });
    expect(await counter(eur.decision_id)).toEqual([100, 0, 900]);
  });
});

test('after all of this the chain is whole', async () => {
  expect((await s.call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true, breaks: [] });
});
