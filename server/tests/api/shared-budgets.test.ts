import { describe, expect, test } from 'vitest';
import { AUTHORITY, freshKey, makeKey, spend, startTestService } from '../support/running-service.ts';
import { makeClient, twoNodes } from '../support/service-test.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(5);

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

/** Two nodes of one installation. */
const { s, beside } = twoNodes({ plan: 'team' });

// Nobody is asked about purpose or the month here.
const OPEN = { ...AUTHORITY, on_purpose_unclear: 'ALLOW', monthly_budget_minor: 10_000_000 };
const client = makeClient(s);
const { get, post, makeAgent, walk } = client;
const patch = async (slug: string, body: object) => {
  const reply = await s.call('PATCH', `/v1/budgets/${slug}`, { body });
  expect(reply.status, reply.text).toBe(200);
  return reply.body;
};
let made = 0;
/** The slug of a new budget in EUR. */
async function makeBudget(limit_minor: number, more: object = {}): Promise<string> {
  made += 1;
  const body = { slug: `budget-${made}`, currency: 'EUR', period: 'MONTH', limit_minor, ...more };
  return (await post('/v1/budgets', body)).slug;
}
const under = (budgets: string[], more: object = {}) =>
  makeAgent({ ...OPEN, budgets, ...more }, { mode: 'ENFORCE' });
const ask = async (agent: string, amount_minor: number, more: object = {}, on = s) => {
  const given = { body: { ...spend(agent, amount_minor), ...more }, idempotency_key: freshKey() };
  let reply = await on.call('POST', '/v1/decisions', given);
  // Whoever is told that it takes too long asks again, as clients do.
  while (reply.status === 503) reply = await on.call('POST', '/v1/decisions', given);
  expect([200, 201], reply.text).toContain(reply.status);
  return reply.body;
};
const found = (decision: { policy_trace: { stage: string; name?: string }[] }) =>
  decision.policy_trace.filter(({ stage }) => stage === 'shared_budget');
const standing = async (slug: string) => (await get(`/v1/budgets/${slug}`)).standing;
const refused = async (path: string, body: unknown, method = 'POST') => {
  const { status, body: answer } = await s.call(method, path, { body });
  return [status, answer.error?.code, answer.error?.message];
};
const executed = (id: string, amount_minor: number) =>
  post(`/v1/decisions/${id}/outcomes`, { type: 'SPEND_EXECUTED', amount_minor });

describe('a shared budget', () => {
  test('is made, read and listed with its standing, and everything but name, limit and status is fixed', async () => {
    const slug = await makeBudget(6_000, { period: 'QUARTER', time_zone: 'Europe/Berlin' });
    const budget = await get(`/v1/budgets/${slug}`);
    expect(budget).toMatchObject({
      id: expect.stringMatching(/^bud_/),
      name: slug,
      period: 'QUARTER',
      time_zone: 'Europe/Berlin',
      parent: null,
      status: 'active',
      standing: {
        kind: 'shared_budget',
        name: slug,
        limit_minor: 6_000,
        used_minor: 0,
        remaining_minor: 6_000,
      },
    });
    expect(await get(`/v1/budgets/${budget.id}`)).toEqual(budget);
    expect((await walk('/v1/budgets')).map(({ id }) => id)).toContain(budget.id);
    expect(await patch(slug, { name: 'Ads', limit_minor: 0 })).toMatchObject({ name: 'Ads', limit_minor: 0 });
    expect(await refused(`/v1/budgets/${slug}`, { period: 'DAY' }, 'PATCH')).toEqual([
      400,
      'invalid_request',
      expect.stringContaining('period'),
    ]);
    const { data } = await get('/v1/audit?limit=2');
    expect(data.map(({ action }: { action: string }) => action)).toEqual([
      'budget.updated',
      'budget.created',
    ]);
    expect(data[0].changes).toEqual({
      name: { from: slug, to: 'Ads' },
      limit_minor: { from: 6_000, to: 0 },
    });
  });

  test('of a wrong shape is refused by the field’s name', async () => {
    const good = { slug: 'deep-1', currency: 'EUR', period: 'TOTAL', limit_minor: 100 };
    await post('/v1/budgets', good);
    expect(await refused('/v1/budgets', good)).toEqual([409, 'budget_exists', expect.any(String)]);
    for (const depth of [2, 3, 4])
      await post('/v1/budgets', { ...good, slug: `deep-${depth}`, parent: `deep-${depth - 1}` });
    const another = { ...good, slug: 'another' };
    const cases: [object, number, string, string][] = [
      [{ ...another, parent: 'deep-4' }, 400, 'invalid_request', 'parent'],
      [{ ...another, parent: 'nobody' }, 404, 'not_found', 'parent'],
      [{ ...another, parent: 'deep-1', currency: 'USD' }, 400, 'invalid_request', 'parent'],
      [{ ...another, status: 'frozen' }, 400, 'invalid_request', 'status'],
      [{ ...another, time_zone: 'Mars' }, 400, 'invalid_request', 'time_zone'],
    ];
    for (const [body, status, code, field] of cases)
      expect(await refused('/v1/budgets', body)).toEqual([status, code, expect.stringContaining(field)]);
    const wrong: [string[], number, string, string][] = [
      [['nobody'], 404, 'not_found', 'budgets[0]'],
      [['deep-1', 'nobody'], 404, 'not_found', 'budgets[1]'],
      [[], 400, 'invalid_request', 'budgets'],
      [['deep-1', 'deep-1'], 400, 'invalid_request', 'budgets'],
    ];
    const agent = await makeAgent(OPEN);
    for (const [budgets, status, code, field] of wrong) {
      const shown = [status, code, expect.stringContaining(field)];
      const authority = { ...OPEN, budgets };
      expect(await refused(`/v1/agents/${agent}/authority`, authority)).toEqual(shown);
      expect(await refused(`/v1/agents/${agent}/authority/simulate`, authority)).toEqual(shown);
      expect(await refused('/v1/agents', { slug: freshKey(), authority })).toEqual(shown);
      const steps = [{ at: '2026-11-22T00:00:00Z', decide: spend('x', 1) }];
      expect(await refused('/v1/authority/test', { authority, steps })).toEqual(shown);
    }
    const dollars = { ...OPEN, currency: 'USD', budgets: ['deep-1'] };
    expect(await refused(`/v1/agents/${agent}/authority`, dollars)).toEqual([
      400,
      'invalid_request',
      expect.stringContaining('budgets[0]'),
    ]);
  });

  test('of another workspace is nowhere', async () => {
    const slug = await makeBudget(1_000);
    const other = await s.addWorkspace({ plan: 'team' });
    const as = (method: string, path: string, body?: unknown) =>
      s.call(method, path, { key: other.admin_key, ...(body === undefined ? {} : { body }) });
    expect((await as('GET', `/v1/budgets/${slug}`)).status).toBe(404);
    expect((await as('PATCH', `/v1/budgets/${slug}`, { limit_minor: 1 })).status).toBe(404);
    const authority = { ...OPEN, budgets: [slug] };
    expect((await as('POST', '/v1/agents', { slug: 'thief', authority })).status).toBe(404);
    const below = { slug: 'below', currency: 'EUR', period: 'TOTAL', limit_minor: 1, parent: slug };
    expect((await as('POST', '/v1/budgets', below)).status).toBe(404);
  });

  test('is never overspent by agents that race on two nodes, nor is the one above it, and the reasons name it', async () => {
    const company = await makeBudget(10_000);
    const marketing = await makeBudget(6_000, { parent: company });
    const agents = [await under([marketing]), await under([marketing]), await under([company])];
    const asked = agents.flatMap((agent) =>
      Array.from({ length: 100 }, (_, i) => ask(agent, 100, {}, i % 2 === 0 ? s : beside)),
    );
    const decisions = await Promise.all(asked);
    const allowed = decisions.filter(({ decision }) => decision === 'ALLOW');
    expect(allowed).toHaveLength(100);
    expect(await standing(company)).toMatchObject({
      used_minor: 10_000,
      remaining_minor: 0,
      used_count: 100,
    });
    expect((await standing(marketing)).used_minor).toBeLessThanOrEqual(6_000);
    for (const denied of decisions.filter(({ decision }) => decision === 'DENY')) {
      expect(denied.reason_code).toBe('BUDGET_EXCEEDED');
      expect(denied.explanation).toMatch(
        new RegExp(
          `nothing is left of the shared budget "(${company}|${marketing})" for \\d{4}-\\d\\d\\. It has room again at `,
        ),
      );
    }
    // One more is denied on either node, by both.
    const last = await ask(agents[0] as string, 101, {}, beside);
    expect(last.reservation.limits.map(({ name }: { name: string }) => name)).toEqual([marketing, company]);
    expect((await s.call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true });
  });

  test('counts what is held, then what was spent, less what is refunded, and gives back what failed', async () => {
    const budget = await makeBudget(1_000);
    const agent = await under([budget]);
    const first = await ask(agent, 600);
    expect(found(first)).toMatchObject([{ name: budget, outcome: 'PASS', observed: 600, limit: 1_000 }]);
    expect(first.reservation.limits).toMatchObject([
      { name: budget, kind: 'shared_budget', used_minor: 600, used_count: 1 },
    ]);
    const capped = await ask(agent, 700, { limitable: true });
    expect([capped.decision, capped.authorized_amount_minor, capped.reason_code]).toEqual([
      'ALLOW',
      400,
      'AMOUNT_LIMITED',
    ]);
    const denied = await ask(agent, 80);
    expect([denied.decision, denied.reason_code]).toEqual(['DENY', 'BUDGET_EXCEEDED']);
    expect(denied.remedies).toMatchObject([{ type: 'RETRY_AT', then: 'ALLOW', clears: ['BUDGET_EXCEEDED'] }]);
    await post(`/v1/decisions/${capped.decision_id}/outcomes`, { type: 'SPEND_FAILED' });
    expect((await standing(budget)).used_minor).toBe(600);
    await executed(first.decision_id, 550);
    expect((await standing(budget)).used_minor).toBe(550);
    await post(`/v1/decisions/${first.decision_id}/outcomes`, {
      type: 'PARTIALLY_REFUNDED',
      amount_minor: 50,
    });
    expect((await standing(budget)).used_minor).toBe(500);
    const smaller = await ask(agent, 501);
    expect(smaller.remedies).toMatchObject([
      { type: 'REDUCE_AMOUNT', max_amount_minor: 500, then: 'ALLOW' },
      { type: 'RETRY_AT' },
    ]);
    const limits = (await get(`/v1/agents/${agent}/limits`)).data;
    expect(limits.at(-1)).toEqual({ ...(await standing(budget)), subject_name: null });
  });

  test('lets nothing more through where its limit is lowered under what is used or it is frozen, on every node', async () => {
    const above = await makeBudget(5_000, { period: 'TOTAL' });
    const budget = await makeBudget(1_000, { parent: above });
    const agent = await under([budget]);
    expect((await ask(agent, 500)).decision).toBe('ALLOW');
    await patch(budget, { limit_minor: 400 });
    expect(await standing(budget)).toMatchObject({ used_minor: 500, remaining_minor: 0 });
    expect((await ask(agent, 1, {}, beside)).reason_code).toBe('BUDGET_EXCEEDED');
    await patch(budget, { limit_minor: 1_000 });
    expect((await ask(agent, 2, {}, beside)).decision).toBe('ALLOW');
    await patch(above, { status: 'frozen' });
    for (const on of [s, beside]) {
      const frozen = await ask(agent, 3, { limitable: true }, on);
      expect([frozen.decision, frozen.reason_code, frozen.explanation]).toEqual([
        'DENY',
        'BUDGET_FROZEN',
        `The shared budget "${above}" is frozen. An administrator can unfreeze it.`,
      ]);
      expect(frozen.remedies).toMatchObject([{ type: 'ASK_OPERATOR', clears: ['BUDGET_FROZEN'] }]);
    }
    await patch(above, { status: 'active' });
    expect((await ask(agent, 4)).decision).toBe('ALLOW');
    // Of all time there is no time at which there is room again.
    await patch(above, { limit_minor: 0 });
    expect((await ask(agent, 5)).remedies).toMatchObject([{ type: 'ASK_OPERATOR' }]);
  });

  test('that is frozen pays no pending review, on no node, while what was issued before is paid', async () => {
    const reviewer = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' })).key;
    const adapter = (await makeKey(s, { scopes: ['consume'] })).key;
    const above = await makeBudget(5_000, { period: 'TOTAL' });
    const budget = await makeBudget(5_000, { parent: above });
    const agent = await under([budget], { review_threshold_minor: 100 });
    const issued = await ask(agent, 50);
    const [waiting, denied, settled] = [await ask(agent, 101), await ask(agent, 102), await ask(agent, 103)];
    const shadow = await makeAgent({ ...OPEN, budgets: [budget], review_threshold_minor: 100 });
    const watched = await ask(shadow, 104);
    const review = (id: string, action: string, on = s) =>
      on.call('POST', `/v1/decisions/${id}/reviews`, { key: reviewer, body: { action, reason_code: 'OK' } });
    await executed(settled.decision_id, 103);
    await patch(above, { status: 'frozen' });
    for (const on of [s, beside]) {
      const reply = await review(waiting.decision_id, 'ALLOW', on);
      expect([reply.status, reply.body.error]).toMatchObject([
        409,
        { code: 'budget_frozen', message: expect.stringContaining(`"${above}"`) },
      ]);
    }
    expect(await get(`/v1/decisions/${waiting.decision_id}`)).toMatchObject({
      review_state: 'PENDING',
      capability: null,
      reservation: { status: 'HELD' },
    });
    expect((await review(denied.decision_id, 'DENY')).status).toBe(201);
    // Neither makes a capability: the one was paid before, the other is in SHADOW.
    expect((await review(settled.decision_id, 'ALLOW')).body.capability).toBeUndefined();
    expect((await review(watched.decision_id, 'ALLOW')).status).toBe(201);
    const consumed = await beside.call('POST', '/v1/capabilities/consume', {
      key: adapter,
      idempotency_key: freshKey(),
      body: { token: issued.capability.token, amount_minor: 50, currency: 'EUR' },
    });
    expect(consumed.status).toBe(201);
    await patch(above, { status: 'active' });
    expect((await review(waiting.decision_id, 'ALLOW')).body.capability.status).toBe('ISSUED');
  });

  test('is replayed as it was found, so the authority of the day changes nothing; another draft meets it too', async () => {
    const budget = await makeBudget(1_000);
    const [agent, other] = [await under([budget]), await under([budget])];
    await ask(other, 300);
    const asked = [];
    for (const amount of [400, 250, 100, 30]) asked.push((await ask(agent, amount)).decision);
    expect(asked).toEqual(['ALLOW', 'ALLOW', 'DENY', 'ALLOW']);
    await patch(budget, { status: 'frozen' });
    await ask(agent, 10);
    await patch(budget, { status: 'active', limit_minor: 5 });
    await ask(agent, 20);
    const simulate = (authority: object) =>
      s.call('POST', `/v1/agents/${agent}/authority/simulate`, { body: authority });
    const same = (await simulate({ ...OPEN, budgets: [budget] })).body;
    expect(same).toMatchObject({ evaluated: 6, changed: [], transitions: [] });
    const narrower = { ...OPEN, budgets: [budget], per_transaction_limit_minor: 300 };
    const { changed } = (await simulate(narrower)).body;
    // What the first no longer takes lets the third through.
    expect(changed).toMatchObject([
      { amount_minor: 100, draft: { decision: 'ALLOW' } },
      { amount_minor: 400, draft: { decision: 'DENY' } },
    ]);
    const wider = (await simulate(OPEN)).body;
    expect(wider.draft).toMatchObject({ deny: 0, allow: 6 });
  });

  test('is tried out with nothing used, over the turn of its period', async () => {
    const budget = await makeBudget(100, { period: 'DAY', time_zone: 'Europe/Berlin' });
    const step = (at: string, amount: number, decision: string) => ({
      at,
      decide: { action: spend('x', amount).action },
      purpose: 'PURPOSE_ALIGNED',
      expect: { decision },
    });
    const { body } = await s.call('POST', '/v1/authority/test', {
      body: {
        authority: { ...OPEN, budgets: [budget] },
        steps: [
          step('2026-11-21T22:59:59.998Z', 100, 'ALLOW'),
          step('2026-11-21T22:59:59.999Z', 1, 'DENY'),
          step('2026-11-21T23:00:00Z', 90, 'ALLOW'),
          step('2026-11-21T23:00:01Z', 11, 'DENY'),
        ],
      },
    });
    expect(body).toMatchObject({ passed: true });
  });

  test('gives a refund back to the period that it was spent in, and to no later one', async () => {
    const budget = await makeBudget(100, { period: 'MONTH' });
    const decide = (at: string, amount: number, decision: string, as?: string) => ({
      at,
      decide: { action: spend('x', amount).action },
      purpose: 'PURPOSE_ALIGNED',
      expect: { decision },
      ...(as === undefined ? {} : { as }),
    });
    const outcome = (at: string, type: string) => ({
      at,
      outcome: { of: 'first', type, amount_minor: 60, source: 'PAYMENT_RAIL' },
    });
    const steps = [
      decide('2026-10-31T23:59:57Z', 60, 'ALLOW', 'first'),
      outcome('2026-10-31T23:59:58Z', 'SPEND_EXECUTED'),
      decide('2026-10-31T23:59:59Z', 41, 'DENY'),
      decide('2026-11-01T00:00:00Z', 40, 'ALLOW'),
      outcome('2026-11-01T00:00:01Z', 'PARTIALLY_REFUNDED'),
      decide('2026-11-01T00:00:02Z', 61, 'DENY'),
      decide('2026-11-01T00:00:03Z', 59, 'ALLOW'),
    ];
    const authority = { ...OPEN, budgets: [budget] };
    const { body } = await s.call('POST', '/v1/authority/test', { body: { authority, steps } });
    expect(body.steps?.flatMap(({ mismatches }: Shown) => mismatches)).toEqual([]);
  });

  test('tells when it is used to 80 and to 100 percent, each once a period, whoever spends', async () => {
    const above = await makeBudget(1_000, { period: 'YEAR' });
    const budget = await makeBudget(500, { parent: above });
    const [agent, other] = [await under([budget]), await under([above])];
    const [lower, upper] = [(await get(`/v1/budgets/${budget}`)).id, (await get(`/v1/budgets/${above}`)).id];
    const reached = async () =>
      (await get('/v1/audit?action=budget.threshold.reached&limit=50')).data
        .filter(({ target }: Shown) => [lower, upper].includes(target.id))
        .map((each: Shown) => [each.target.id, each.changes.percent.to, each.changes.used_minor.to])
        .reverse();
    await ask(agent, 399);
    expect(await reached()).toEqual([]);
    const held = await ask(agent, 1);
    expect(await reached()).toEqual([[lower, 80, 400]]);
    // What was given back and is spent again is not told again.
    await post(`/v1/decisions/${held.decision_id}/outcomes`, { type: 'SPEND_FAILED' });
    await ask(agent, 2);
    await ask(agent, 200);
    expect(await reached()).toEqual([[lower, 80, 400]]);
    await ask(other, 500, {}, beside);
    await ask(agent, 99);
    expect(await reached()).toEqual([
      [lower, 80, 400],
      [upper, 80, 901],
      [lower, 100, 500],
      [upper, 100, 1_000],
    ]);
    expect((await s.call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true });
  });

  test('gets back what a hold kept that ran out', async () => {
    const hasty = await startTestService({ beside: s, env: { REVIEW_TTL_SECONDS: '1' } });
    try {
      const budget = await makeBudget(100);
      const agent = await under([budget], { review_threshold_minor: 10 });
      expect((await ask(agent, 100, {}, hasty)).decision).toBe('REVIEW');
      expect((await standing(budget)).used_minor).toBe(100);
      await until(async () => (await standing(budget)).used_minor === 0);
      expect((await ask(agent, 5)).decision).toBe('ALLOW');
    } finally {
      await hasty.stop();
    }
  });
});

test('an authority without shared budgets has the hash and the trace that it had', async () => {
  const agent = await makeAgent(OPEN);
  expect(found(await ask(agent, 7))).toEqual([]);
});
