import { describe, expect } from 'vitest';
import { refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const BEGIN_MS = Date.UTC(2026, 10, 2, 9);
const DAY_MS = 86_400_000;
const { test, s, get, post, ask, makeAgent } = serviceTest({ plan: 'enterprise', stopped_at_ms: BEGIN_MS });
const at = (day: number, hour = 9) => s.setClock(BEGIN_MS + day * DAY_MS + (hour - 9) * 3_600_000);
const iso = (day: number, hour = 9) =>
  new Date(BEGIN_MS + day * DAY_MS + (hour - 9) * 3_600_000).toISOString();

test.beforeAll(async () => {
  const wide = { per_transaction_limit_minor: 100_000, review_threshold_minor: 90_000 };
  await post('/v1/budgets', {
    slug: 'team',
    currency: 'EUR',
    period: 'MONTH',
    limit_minor: 40_000,
    alert_percents: [50, 90],
  });
  await makeAgent({ ...wide, monthly_budget_minor: 100_000, budgets: ['team'] }, { slug: 'one' });
  await makeAgent({ ...wide, monthly_budget_minor: undefined, budgets: ['team'] }, { slug: 'two' });
  await makeAgent({ ...wide, monthly_budget_minor: 9_000 }, { slug: 'idle' });
  await ask('one', 10_000);
  await at(0, 11);
  await ask('two', 2_000);
  await at(2);
  await ask('one', 5_000, { action: { merchant: 'OVH' } });
  await at(6);
  await ask('two', 3_000);
  await at(9);
});

describe('a budget’s curve', () => {
  test('has what remained after the last decision of each day, now, and the day on which nothing will', async () => {
    const { points, ...curve } = (await get('/v1/agents/one/burn-down')).data[0];
    expect(curve).toMatchObject({
      name: 'one',
      currency: 'EUR',
      starts_at: '2026-11-01T00:00:00.000Z',
      ends_at: '2026-12-01T00:00:00.000Z',
      limit_minor: 100_000,
      used_minor: 15_000,
      thresholds: [],
      // At 15,000 in ten days, 100,000 last for longer than the month.
      used_up_at: null,
    });
    expect(points).toEqual([
      { at: '2026-11-01T00:00:00.000Z', remaining_minor: 100_000 },
      { at: expect.stringMatching(/^2026-11-02T09:00:00/), remaining_minor: 90_000 },
      { at: expect.stringMatching(/^2026-11-04T09:00:00/), remaining_minor: 85_000 },
      { at: iso(9), remaining_minor: 85_000 },
    ]);
  });

  test('of a shared budget has the decisions of all agents, and its thresholds', async () => {
    const { points, ...curve } = await get('/v1/budgets/team/burn-down');
    expect(points.map((each: { remaining_minor: number }) => each.remaining_minor)).toEqual([
      40_000, 28_000, 23_000, 20_000, 20_000,
    ]);
    expect(points[1].at).toMatch(/^2026-11-02T11:00:00/);
    // Half is used after 10 days and 9 hours: nothing remains after as many more.
    const elapsed_ms = Date.parse(iso(9)) - Date.UTC(2026, 10, 1);
    expect(curve).toMatchObject({
      used_minor: 20_000,
      thresholds: [20_000, 4_000],
      used_up_at: new Date(Date.UTC(2026, 10, 1) + 2 * elapsed_ms).toISOString(),
    });
  });

  test('of a budget that nobody used is flat and never used up', async () => {
    expect((await get('/v1/agents/idle/burn-down')).data[0]).toMatchObject({
      used_minor: 0,
      used_up_at: null,
      points: [{ remaining_minor: 9_000 }, { remaining_minor: 9_000 }],
    });
  });

  test('is none without a monthly budget, and 404 for what does not exist', async () => {
    expect(await get('/v1/agents/two/burn-down')).toEqual({ data: [], next_cursor: null });
    for (const path of ['/v1/agents/nobody/burn-down', '/v1/budgets/nobody/burn-down'])
      expect([path, ...refusal(await s.call('GET', path))]).toEqual([path, 404, 'not_found']);
  });
});

describe('GET /v1/reports/spending', () => {
  const period = 'from=2026-11-03&to=2026-11-08';
  test('has requested amounts by day and part, and of the period before', async () => {
    const body = await get(`/v1/reports/spending?${period}&by=merchant`);
    expect(body).toMatchObject({
      from: '2026-11-03T00:00:00.000Z',
      to: '2026-11-09T00:00:00.000Z',
      agent: null,
    });
    expect(body.totals).toMatchObject([
      {
        currency: 'EUR',
        count: 2,
        amount_minor: 8_000,
        allow: { count: 2, amount_minor: 8_000 },
        before: { count: 2, amount_minor: 12_000 },
        by_day: [
          { day: '2026-11-04', allow: { count: 1, amount_minor: 5_000 } },
          { day: '2026-11-08', allow: { count: 1, amount_minor: 3_000 } },
        ],
      },
    ]);
    expect(
      body.parts.map((each: { name: string; amount_minor: number }) => [each.name, each.amount_minor]),
    ).toEqual([
      ['OVH', 5_000],
      [expect.any(String), 3_000],
    ]);
  });

  test('names agents by their slugs, and may be of one', async () => {
    const { parts } = await get(`/v1/reports/spending?${period}`);
    expect(parts.map(({ name }: { name: string }) => name)).toEqual(['one', 'two']);
    const own = await get(`/v1/reports/spending?${period}&agent=two`);
    expect([own.agent.slug, own.parts.length, own.parts[0].name, own.totals[0].amount_minor]).toEqual([
      'two',
      1,
      'two',
      3_000,
    ]);
    expect(refusal(await s.call('GET', `/v1/reports/spending?${period}&agent=nobody`))).toEqual([
      404,
      'not_found',
    ]);
  });

  test('by shared budget has the requests of all agents that name it now, in its currency, and its parents', async () => {
    await post('/v1/budgets', { slug: 'all', currency: 'EUR', period: 'MONTH', limit_minor: 90_000 });
    const below = { slug: 'dollars', currency: 'USD', period: 'MONTH', limit_minor: 90_000 };
    await post('/v1/budgets', below);
    const { authority } = await get('/v1/agents/two/authority');
    await post('/v1/agents/two/authority', { ...authority, budgets: ['team', 'all'] });
    const { parts, totals } = await get('/v1/reports/spending?from=2026-11-02&to=2026-11-08&by=budget');
    expect(
      parts.map((each: { name: string; currency: string; amount_minor: number; before: object }) => [
        each.name,
        each.currency,
        each.amount_minor,
        each.before,
      ]),
    ).toEqual([
      ['team', 'EUR', 20_000, { count: 0, amount_minor: 0 }],
      ['all', 'EUR', 5_000, { count: 0, amount_minor: 0 }],
    ]);
    expect(totals[0].amount_minor).toBe(20_000);
    const later = await get('/v1/reports/spending?from=2026-11-03&to=2026-11-08&by=budget&agent=two');
    expect(later.parts).toMatchObject([
      { name: 'all', amount_minor: 3_000, before: { amount_minor: 2_000 } },
      { name: 'team', amount_minor: 3_000, before: { amount_minor: 2_000 } },
    ]);
  });

  test('of one mode has the decisions in that mode alone', async () => {
    await makeAgent({ per_transaction_limit_minor: 100_000 }, { slug: 'strict', mode: 'ENFORCE' });
    await ask('strict', 700);
    const amountOf = async (filter: string) =>
      (await get(`/v1/reports/spending?from=2026-11-09&to=2026-11-12${filter}`)).totals[0]?.amount_minor ?? 0;
    expect([await amountOf('&mode=ENFORCE'), await amountOf('&mode=SHADOW'), await amountOf('')]).toEqual([
      700, 0, 700,
    ]);
    const { parts } = await get('/v1/reports/spending?from=2026-11-02&to=2026-11-12&mode=SHADOW');
    expect(parts.map(({ name }: { name: string }) => name).sort()).toEqual(['one', 'two']);
  });
});
