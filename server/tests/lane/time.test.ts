import { SUPERUSER } from '@purser/embedded-postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  AUTHORITY,
  freshKey,
  type RunningService,
  spend,
  startTestService,
} from '../support/running-service.ts';
import { until } from '../support/until.ts';

let first: RunningService;
let second: RunningService;
beforeAll(async () => {
  first = await startTestService({ env: { REVIEW_TTL_SECONDS: '1' } });
  // What a server's own time zone is must change nothing: it is 14 hours ahead of UTC for the second node.
  await first.sql(
    `alter database ${first.database.connection.database} set timezone to 'Pacific/Kiritimati'`,
  );
  second = await startTestService({ beside: first, env: { REVIEW_TTL_SECONDS: '1' } });
});
afterAll(async () => {
  await second.stop();
  await first.stop();
});

interface Tenant {
  workspace_id: string;
  admin_key: string;
}
async function tenantWith(authority: object, mode: 'SHADOW' | 'ENFORCE' = 'SHADOW'): Promise<Tenant> {
  const made = await first.addWorkspace({ plan: 'team' });
  await first.call('POST', '/v1/agents', {
    key: made.admin_key,
    body: { slug: 'a', mode, authority: { ...AUTHORITY, ...authority } },
  });
  return made;
}
async function decide(node: RunningService, tenant: Tenant, amount: number) {
  const reply = await node.call('POST', '/v1/decisions', {
    key: tenant.admin_key,
    body: spend('a', amount),
    idempotency_key: freshKey(),
  });
  expect(reply.status).toBe(201);
  return reply.body;
}
describe("the month of a hold is that of the database's clock, in UTC", () => {
  test('a budget spent in the last milliseconds of a month is whole again in the first of the next', async () => {
    const turn_ms = Date.UTC(2027, 1, 1);
    const one = await startTestService({ stopped_at_ms: turn_ms - 2_000 });
    const other = await startTestService({ beside: one });
    try {
      await one.call('POST', '/v1/agents', {
        body: { slug: 'a', mode: 'SHADOW', authority: { ...AUTHORITY, monthly_budget_minor: 100 } },
      });
      await one.setClock(turn_ms - 20);
      const last = await decide(one, one, 100);
      expect(last.created_at).toMatch(/^2027-01-31T23:59:59\.9[89]/);
      expect([last.reservation.period, last.decision]).toEqual(['2027-01', 'ALLOW']);
      await one.setClock(turn_ms - 10);
      expect((await decide(other, one, 1)).reason_codes).toEqual(['MONTHLY_BUDGET_EXCEEDED']);
      await one.setClock(turn_ms);
      const next = await decide(other, one, 100);
      expect([next.created_at.slice(0, 7), next.reservation.period, next.decision]).toEqual([
        '2027-02',
        '2027-02',
        'ALLOW',
      ]);
      const { rows } = await one.sql('select period, held_minor from budgets order by period');
      expect(rows).toEqual([
        { period: '2027-01', held_minor: '100' },
        { period: '2027-02', held_minor: '100' },
      ]);
    } finally {
      await other.stop();
      await one.stop();
    }
  });

  test('an allowance is open until the last microsecond before its end, and on no node from then on', async () => {
    const end_ms = Date.UTC(2027, 1, 1);
    const one = await startTestService({ stopped_at_ms: end_ms - 2_000 });
    const other = await startTestService({ beside: one });
    try {
      const authority = { ...AUTHORITY, on_purpose_unclear: 'ALLOW' };
      await one.call('POST', '/v1/agents', { body: { slug: 'a', mode: 'ENFORCE', authority } });
      const expires_at = new Date(end_ms).toISOString();
      const body = { agent: 'a', currency: 'EUR', amount_minor: 1_000, expires_at };
      const { id } = (await one.call('POST', '/v1/allowances', { body })).body;
      const reasonAt = async (node: RunningService, time: string) => {
        await one.sql('update stopped_clock.moment set at = $1', [time]);
        const given = { body: { ...spend('a', 1), allowance: id }, idempotency_key: freshKey() };
        return (await node.call('POST', '/v1/decisions', given)).body.reason_code;
      };
      expect(await reasonAt(other, '2027-01-31T23:59:59.999999Z')).toBe('WITHIN_AUTHORITY');
      expect(await reasonAt(other, '2027-02-01T00:00:00Z')).toBe('ALLOWANCE_NOT_OPEN');
      expect(await reasonAt(one, '2027-02-01T00:00:00.0004Z')).toBe('ALLOWANCE_NOT_OPEN');
    } finally {
      await other.stop();
      await one.stop();
    }
  });

  test("a server whose own time zone is another dates and counts as every other node's does", async () => {
    const tenant = await tenantWith({ monthly_budget_minor: 100 });
    const before = Date.now();
    const made = await decide(second, tenant, 5);
    // Zones differ by a quarter of an hour at least.
    expect(Math.abs(Date.parse(made.created_at) - before)).toBeLessThan(600_000);
    expect(made.reservation.period).toBe(made.created_at.slice(0, 7));
    expect((await decide(first, tenant, 96)).reason_codes).toEqual(['MONTHLY_BUDGET_EXCEEDED']);
    const verified = await second.call('GET', '/v1/ledger/verify', { key: tenant.admin_key });
    expect(verified.body.valid).toBe(true);
  });
});

describe('a pending review in ENFORCE that ran out', () => {
  test('reads as EXPIRED with its money free at once, while nobody could have written it down yet', async () => {
    const tenant = await tenantWith({ review_threshold_minor: 10, monthly_budget_minor: 1_000 }, 'ENFORCE');
    const pending = await decide(first, tenant, 1_000);
    expect(pending.review_state).toBe('PENDING');
    // Whoever holds the head's lock keeps the sweep and every other writer out.
    const locker = new pg.Client({ ...first.database.connection, user: SUPERUSER.user });
    await locker.connect();
    try {
      await locker.query('begin');
      await locker.query('select 1 from ledger_heads where workspace_id = $1 for update', [
        tenant.workspace_id,
      ]);
      const left_ms = Date.parse(pending.reservation.expires_at) - Date.now();
      await new Promise((wait) => setTimeout(wait, left_ms + 100));
      for (const node of [first, second]) {
        const { body } = await node.call('GET', `/v1/decisions/${pending.decision_id}`, {
          key: tenant.admin_key,
        });
        expect(body).toMatchObject({
          review_state: 'EXPIRED',
          reservation: { status: 'EXPIRED', budget: { held_minor: 0, remaining_minor: 1_000 } },
        });
      }
      const written = await first.sql(
        "select 1 from ledger_events where workspace_id = $1 and type = 'reservation.expired'",
        [tenant.workspace_id],
      );
      expect(written.rowCount).toBe(0);
    } finally {
      await locker.query('rollback');
      await locker.end();
    }
    // Two nodes sweep, and two decisions want the money, all of them at once.
    const spends = await Promise.all([
      decide(first, tenant, 600),
      decide(second, tenant, 600),
      decide(first, tenant, 5),
    ]);
    expect(spends.filter((made) => made.decision !== 'DENY')).toHaveLength(2);
    const { rows } = await first.sql(
      "select subject_id from ledger_events where workspace_id = $1 and type = 'reservation.expired'",
      [tenant.workspace_id],
    );
    expect(rows.map((row) => row.subject_id)).toEqual([pending.reservation.reservation_id]);
  });

  test('is in no shared budget any more, whichever agent asks, before anybody could have written it down', async () => {
    const { workspace_id, admin_key: key } = await first.addWorkspace({ plan: 'team' });
    const as = async (method: string, path: string, body?: object) =>
      (await first.call(method, path, { key, ...(body === undefined ? {} : { body }) })).body;
    await as('POST', '/v1/budgets', { slug: 'team', currency: 'EUR', period: 'MONTH', limit_minor: 1_000 });
    const authority = { ...AUTHORITY, review_threshold_minor: 10, budgets: ['team'] };
    for (const slug of ['a', 'b']) await as('POST', '/v1/agents', { slug, mode: 'ENFORCE', authority });
    const locker = new pg.Client({ ...first.database.connection, user: SUPERUSER.user });
    await locker.connect();
    const locked = async () => {
      const { decision_id } = await decide(first, { workspace_id, admin_key: key }, 700);
      await locker.query('begin');
      await locker.query('select 1 from ledger_heads where workspace_id = $1 for update', [workspace_id]);
      const { rows } = await locker.query(
        'select 1 from decision_states where decision_id = $1 and reservation_status = $2',
        [decision_id, 'HELD'],
      );
      if (rows.length > 0) return { decision_id };
      // The sweep was there before the lock.
      await locker.query('rollback');
      return null;
    };
    try {
      const { decision_id } = await until(locked);
      await until(async () => (await as('GET', `/v1/decisions/${decision_id}`)).review_state === 'EXPIRED');
      const counted = await locker.query(
        'select sum(held_minor)::int as held from counters where workspace_id = $1',
        [workspace_id],
      );
      expect(counted.rows).toEqual([{ held: 700 }]);
      const free = { used_minor: 0, used_count: 0, remaining_minor: 1_000 };
      expect((await as('GET', '/v1/budgets/team')).standing).toMatchObject(free);
      expect((await as('GET', '/v1/budgets')).data[0].standing).toMatchObject(free);
      for (const slug of ['a', 'b'])
        expect((await as('GET', `/v1/agents/${slug}/limits`)).data.at(-1)).toMatchObject(free);
    } finally {
      await locker.query('rollback');
      await locker.end();
    }
    const settled = () =>
      first.sql('select sum(held_minor)::int as held from counters where workspace_id = $1', [workspace_id]);
    await until(async () => (await settled()).rows[0].held === 0);
    expect((await as('GET', '/v1/budgets/team')).standing).toMatchObject({ used_minor: 0, used_count: 0 });
  });
});

describe('the counters', () => {
  test('are the sum of the holds, and what was allowed is never over the budget, whatever the amounts', async () => {
    const tenant = await tenantWith({ monthly_budget_minor: 5_000 });
    const made = await Promise.all(
      Array.from({ length: 120 }, (_, i) =>
        decide(i % 2 === 0 ? first : second, tenant, 1 + ((i * 37) % 211)),
      ),
    );
    const held = made
      .filter((each) => each.decision !== 'DENY')
      .reduce((sum, each) => sum + each.reservation.amount_minor, 0);
    const { rows } = await first.sql(
      'select held_minor, committed_minor from budgets where workspace_id = $1',
      [tenant.workspace_id],
    );
    expect(rows).toEqual([{ held_minor: String(held), committed_minor: '0' }]);
    expect(held).toBeLessThanOrEqual(5_000);
    expect(made.some((each) => each.decision === 'DENY')).toBe(true);
    // Each answer shows the counter as it stood after it: no two of those that held saw the same.
    const seen = made
      .filter((each) => each.decision !== 'DENY')
      .map((each) => each.reservation.budget.held_minor);
    expect(new Set(seen).size).toBe(seen.length);
    expect(Math.max(...seen)).toBe(held);
  });
});

describe('the list of events', () => {
  test('paged while two nodes write has every event once, in the order of the chain', async () => {
    const tenant = await tenantWith({});
    for (let i = 0; i < 30; i++) await decide(first, tenant, 1);
    let writing = true;
    const writers = [first, second].map(async (node) => {
      let count = 0;
      for (; writing; count++) await decide(node, tenant, 1);
      return count;
    });
    const page = async (cursor: string | null) =>
      (
        await second.call(
          'GET',
          `/v1/ledger/events?limit=3${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
          { key: tenant.admin_key },
        )
      ).body;
    const seqs: number[] = [];
    let cursor: string | null = null;
    do {
      const found = await page(cursor);
      seqs.push(...found.data.map((event: { seq: number }) => event.seq));
      cursor = found.next_cursor;
    } while (cursor !== null);
    writing = false;
    const written = await Promise.all(writers);
    expect(Math.min(...written)).toBeGreaterThan(0);
    expect(seqs[0]).toBeGreaterThanOrEqual(33);
    expect(seqs).toEqual(Array.from({ length: seqs[0] as number }, (_, i) => (seqs[0] as number) - i));
  });
});
