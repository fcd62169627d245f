import { describe, expect } from 'vitest';
import { AUTHORITY, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const BEGIN_MS = Date.UTC(2026, 10, 2, 9);
const DAY_MS = 86_400_000;
const { test, s, get, post, ask, makeAgent } = serviceTest({ plan: 'enterprise', stopped_at_ms: BEGIN_MS });
const at = (day: number) => s.setClock(BEGIN_MS + day * DAY_MS);
const inDays = (days: number) => new Date(BEGIN_MS + days * DAY_MS).toISOString();
const EASY = { ...AUTHORITY, on_purpose_unclear: 'ALLOW', monthly_budget_minor: 10_000_000 };
const allow = async (more: object): Promise<string> =>
  (await post('/v1/allowances', { amount_minor: 100_000, ...more })).id;
const report = (query: string) => get(`/v1/reports/allowances?${query}`);
const settle = (id: string, type: string, amount_minor: number) =>
  post(`/v1/decisions/${id}/outcomes`, { type, amount_minor });

const row = (value: string, spends: number, more: object = {}) => ({
  value,
  currency: 'EUR',
  spends,
  denied: 0,
  reviews: 0,
  held_minor: 0,
  committed_minor: 0,
  open: 0,
  ...more,
});

test.beforeAll(async () => {
  const enforce = { mode: 'ENFORCE' };
  await makeAgent({ ...EASY, review_threshold_minor: 5_000 }, { slug: 'one', ...enforce });
  await makeAgent({ ...EASY, review_threshold_minor: 5_000 }, { slug: 'two', ...enforce });
  const of = (agent: string, labels: object, more: object = {}) =>
    allow({ agent, currency: 'EUR', expires_at: inDays(60), labels, ...more });
  const month = await of('one', { customer: 'c1' });
  // A part has the labels of its parent: a spend under it counts once.
  const part = await allow({ parent: month, amount_minor: 4_000, labels: { run: '=7' } });
  const shared = await of('two', { customer: 'c1' });
  const other = await of('one', { customer: 'c2', run: '8' });
  const ended = await of('one', { customer: 'c3' });
  expect((await s.call('POST', `/v1/allowances/${ended}/revoke`, { body: {} })).status).toBe(200);

  await ask('one', 1_000, { allowance: month });
  const paid = await ask('one', 3_000, { allowance: part });
  await settle(paid.decision_id, 'SPEND_EXECUTED', 3_000);
  await settle(paid.decision_id, 'PARTIALLY_REFUNDED', 500);
  expect((await ask('one', 2_000, { allowance: part })).decision).toBe('DENY');
  await at(1);
  await ask('two', 4_000, { allowance: shared });
  expect((await ask('two', 9_000, { allowance: shared })).decision).toBe('REVIEW');
  const failed = await ask('one', 700, { allowance: other });
  await post(`/v1/decisions/${failed.decision_id}/outcomes`, { type: 'SPEND_FAILED' });
  await ask('one', 800, { allowance: other });
  expect((await ask('one', 10, { allowance: ended })).decision).toBe('DENY');
  // Nothing is counted that names no allowance.
  await ask('one', 50);
});

describe('the report by a label of allowances', () => {
  test('counts each decision once, with its money as of now, most money first', async () => {
    const found = await report('label=customer');
    expect(found).toMatchObject({ label: 'customer', agent: null, next_cursor: null });
    expect(found.data).toEqual([
      row('c1', 5, { denied: 1, reviews: 1, held_minor: 14_000, committed_minor: 2_500, open: 3 }),
      row('c2', 2, { held_minor: 800, open: 1 }),
      row('c3', 1, { denied: 1 }),
    ]);
    expect((await report('label=run')).data).toEqual([
      row('=7', 2, { denied: 1, committed_minor: 2_500, open: 1 }),
      row('8', 2, { held_minor: 800, open: 1 }),
    ]);
    expect((await report('label=nobody')).data).toEqual([]);
  });

  test('takes an agent and a period; what is open is shown whatever the period', async () => {
    expect((await report('label=customer&agent=two')).data).toEqual([
      row('c1', 2, { reviews: 1, held_minor: 13_000, open: 1 }),
    ]);
    const second = await report('label=customer&from=2026-11-03&to=2026-11-03');
    expect(second.data).toEqual([
      row('c1', 2, { reviews: 1, held_minor: 13_000, open: 3 }),
      row('c2', 2, { held_minor: 800, open: 1 }),
      row('c3', 1, { denied: 1 }),
    ]);
    const before = await report('label=customer&from=2026-10-01&to=2026-10-31');
    expect(before.data).toEqual([row('c1', 0, { open: 3 }), row('c2', 0, { open: 1 })]);
  });

  test('leaves out a hold that has expired, before anything recorded it', async () => {
    await at(20);
    const [first] = (await report('label=customer')).data;
    expect(first).toEqual(
      row('c1', 5, { denied: 1, reviews: 1, held_minor: 5_000, committed_minor: 2_500, open: 3 }),
    );
    await at(1);
  });

  test('is a table for a spreadsheet, without formulas', async () => {
    const reply = await s.call('GET', '/v1/reports/allowances?label=run', {
      headers: { accept: 'text/csv' },
    });
    expect(reply.headers.get('content-type')).toContain('text/csv');
    expect(reply.text.trim().split('\n')).toEqual([
      'value,currency,spends,denied,reviews,held_minor,committed_minor,amount_cut,open',
      "'=7,EUR,2,1,0,0,2500,,1",
      '8,EUR,2,0,0,800,0,,1',
    ]);
  });

  test('names the field that is wrong', async () => {
    for (const [query, field] of [
      ['', 'label'],
      ['?label=Customer:c1', 'label'],
      ['?label=customer&from=2026-12-01&to=2026-11-01', 'to'],
      ['?label=customer&unknown=1', 'unknown'],
    ]) {
      const reply = await s.call('GET', `/v1/reports/allowances${query}`);
      expect([reply.status, refusal(reply)], query).toEqual([400, expect.anything()]);
      expect(reply.body.error.message, query).toContain(field);
    }
    expect((await s.call('GET', '/v1/reports/allowances?label=customer&agent=nobody')).status).toBe(404);
  });
});
