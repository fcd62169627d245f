import { describe, expect } from 'vitest';
import { AUTHORITY } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';
import { makeHistory } from './made-history.ts';
import { makeSender } from './sender.ts';

takesMinutes(5);

const { test, s, get, makeAgent } = serviceTest({ plan: 'enterprise' });
const { importFile } = makeSender(s);
const PURPOSE = AUTHORITY.purpose;

const ndjson = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const take = (feed: string, rows: readonly object[], more: object = {}) =>
  importFile({ source: 'lines', content_type: 'application/x-ndjson', feed, body: ndjson(rows), ...more });
const call = async (path: string, body: object, status = 200) => {
  const reply = await s.call('POST', path, { body });
  expect(reply.status, reply.text).toBe(status);
  return reply.body;
};
const line = (n: number, more: object = {}) => ({
  merchant: 'Hetzner Online',
  amount_minor: 1_000,
  currency: 'EUR',
  occurred_at: `2026-03-${String(1 + n).padStart(2, '0')}T10:00:00Z`,
  external_reference: `r${n}`,
  ...more,
});

test('of an import that is not there is refused and names it', async () => {
  const { id } = await take('there', [line(1)]);
  const filter = { imports: [id, 'imp_gone'] };
  for (const reply of [
    await s.call('POST', '/v1/history/proposal', { body: { purpose: PURPOSE, filter } }),
    await s.call('POST', '/v1/history/replay', { body: { authority: AUTHORITY, filter } }),
    await s.call('GET', '/v1/history/anomalies?import=imp_gone'),
  ])
    expect([reply.status, reply.body.error.message]).toEqual([404, 'No such import: imp_gone.']);
});

describe('a replay', () => {
  test('judges lines by the draft’s own months, limits and known merchants, in the order of time', async () => {
    const feed = 'replayed';
    const rows = [
      line(3, { amount_minor: 6_000 }),
      line(1, { amount_minor: 3_000 }),
      line(2, { amount_minor: 2_500, occurred_at: '2026-03-02' }),
      line(4, { amount_minor: 100, currency: 'USD' }),
      line(5, { kind: 'REFUND' }),
      line(20, { amount_minor: 4_000 }),
      line(30, { amount_minor: 4_000, occurred_at: '2026-04-01T10:00:00Z' }),
    ];
    await take(feed, rows);
    const authority = {
      purpose: PURPOSE,
      currency: 'EUR',
      per_transaction_limit_minor: 5_000,
      monthly_budget_minor: 9_000,
      allowed_merchants: ['Hetzner Online'],
      active_hours: [{ days: ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'], from: '09:00', to: '11:00' }],
    };
    const replay = await call('/v1/history/replay', { authority, filter: { feed } });
    expect(replay).toMatchObject({
      saved: false,
      evaluated: 5,
      draft: { allow: 3, review: 0, deny: 2, authorized_minor: 9_500 },
      allow_share: 0.6,
    });
    expect(
      replay.skipped.sort((a: { reason: string }, b: { reason: string }) => (a.reason < b.reason ? -1 : 1)),
    ).toEqual([
      { reason: 'CURRENCY_DIFFERS', count: 1 },
      { reason: 'REFUND', count: 1 },
    ]);
    expect(
      replay.stopped.map(({ amount_minor, reason_code }: { amount_minor: number; reason_code: string }) => [
        amount_minor,
        reason_code,
      ]),
    ).toEqual([
      [4_000, 'MONTHLY_BUDGET_EXCEEDED'],
      [6_000, 'PER_TRANSACTION_LIMIT_EXCEEDED'],
    ]);
    expect(
      await call('/v1/history/replay', {
        authority: {
          ...authority,
          active_hours: [{ ...authority.active_hours[0], from: '12:00', to: '13:00' }],
        },
        filter: { feed },
      }),
    ).toMatchObject({
      // The line with a day alone is not judged by hours.
      draft: { allow: 1, deny: 4 },
    });
  });

  test('changes nothing: no decision, no counter, no known merchant', async () => {
    const before = await s.sql('select count(*) from ledger_events');
    await call('/v1/history/replay', {
      authority: { purpose: PURPOSE, currency: 'EUR' },
      filter: { feed: 'replayed' },
    });
    expect((await s.sql('select count(*) from ledger_events')).rows).toEqual(before.rows);
    expect((await s.sql('select from decisions')).rowCount).toBe(0);
  });
});

describe('a proposal', () => {
  test('keeps 97 % of a made year with at most two reviews a week, and of its last fifth 95 %', async () => {
    const agent = await makeAgent({ currency: 'EUR', blocked_merchants: ['Evil Corporation'] });
    const { lines } = makeHistory({ seed: 1, lines: 3_000 });
    await take('year', lines, { agent });
    const found = await call('/v1/history/proposal', { agent });
    expect(found.replay.allow_share).toBeGreaterThanOrEqual(0.97);
    expect(found.replay.reviews_per_week).toBeLessThanOrEqual(2);
    expect(found.check.lines).toBe(600);
    expect(found.check.allow_share).toBeGreaterThanOrEqual(0.95);
    expect(found).toMatchObject({ saved: false, reached: true, base: { version: 1 } });
    expect(found.authority.purpose).toEqual(PURPOSE);
    expect(found.authority.blocked_merchants).toEqual(['Evil Corporation']);
    for (const { path, why } of found.fields)
      expect([path, why]).toEqual([path, expect.stringMatching(/^[A-Z\d].+\.$/)]);
    const limit = found.fields.find(({ path }: { path: string }) => path === 'per_transaction_limit_minor');
    expect(limit.why).toMatch(/^Your largest of 3,000 purchases was EUR [\d,.]+ \(.+, \d+ \w+\)\./);
    expect((await get(`/v1/lines/${limit.line_ids[0]}`)).currency).toBe('EUR');
    // A person applies it, on the version that it was made for.
    const applied = await s.call('POST', `/v1/agents/${agent}/authority`, {
      body: found.authority,
      headers: { 'if-match': `"${found.base.hash}"` },
    });
    expect(applied.status, applied.text).toBe(201);
    const again = await call('/v1/history/replay', { authority: found.authority, filter: { agent } });
    expect(again.allow_share).toBe(found.replay.allow_share);
  });

  test('needs a purpose, and has nothing to say without lines', async () => {
    const bare = await makeAgent(null);
    const refused = await call('/v1/history/proposal', { agent: bare }, 400);
    expect(refused.error.message).toMatch(/^purpose/);
    const none = await call('/v1/history/proposal', {
      purpose: PURPOSE,
      filter: { feed: 'nothing', currency: 'EUR' },
    });
    expect(none).toMatchObject({
      authority: { purpose: PURPOSE, currency: 'EUR' },
      fields: [],
      reached: false,
    });
    const found = await call('/v1/history/proposal', { purpose: PURPOSE, filter: { feed: 'year' } });
    expect(found).toMatchObject({ base: null, authority: { purpose: PURPOSE, currency: 'EUR' } });
  });
});

test('anomalies are all found, and hardly any other line is', async () => {
  const { lines, seeded } = makeHistory({ seed: 2, lines: 2_000, anomalies: 4 });
  await take('odd', lines);
  const { data } = await get('/v1/history/anomalies?feed=odd&threshold_minor=100000');
  const ids = new Map<string, string>();
  for (let after = ''; ; ) {
    const page = await get(`/v1/lines?feed=odd&limit=200${after}`);
    for (const { line_id, external_reference } of page.data) ids.set(line_id, external_reference);
    if (page.next_cursor === null) break;
    after = `&cursor=${page.next_cursor}`;
  }
  const found = new Map<string, Set<string>>();
  for (const { kind, line_ids } of data) {
    const of_kind = found.get(kind) ?? new Set();
    for (const id of line_ids) of_kind.add(ids.get(id) as string);
    found.set(kind, of_kind);
  }
  const wanted = new Set<string>();
  for (const { kind, references } of seeded) {
    for (const reference of references) {
      wanted.add(reference);
      expect([kind, reference, found.get(kind)?.has(reference)]).toEqual([kind, reference, true]);
    }
  }
  const false_ones = [...new Set([...found.values()].flatMap((each) => [...each]))].filter(
    (each) => !wanted.has(each),
  );
  expect(false_ones.length).toBeLessThanOrEqual(lines.length / 100);
});
