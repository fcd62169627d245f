import { beforeAll, describe, expect, test } from 'vitest';
import {
  AUTHORITY,
  fieldOf,
  freshKey,
  makeKey,
  type Reply,
  refusal,
  spend,
} from '../support/running-service.ts';
import { twoNodes } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

/** Two nodes of one installation. */
const { s, beside, get, post, makeAgent, walk } = twoNodes({ plan: 'enterprise' });
let reviewer: string;
beforeAll(async () => {
  reviewer = (await makeKey(s, { scopes: ['review', 'read', 'admin'], principal_id: 'user:ada' })).key;
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const send = (path: string, body: object, key?: string, on = s): Promise<Reply> =>
  on.call('POST', path, { body, idempotency_key: freshKey(), ...(key === undefined ? {} : { key }) });
const ask = async (agent: string, amount_minor: number, more: object = {}, on = s): Promise<Shown> => {
  const reply = await send('/v1/decisions', spend(agent, amount_minor, more as never), undefined, on);
  expect(reply.status, reply.text).toBe(201);
  return reply.body;
};
const review = (id: string, body: object, key = reviewer) =>
  send(`/v1/decisions/${id}/reviews`, { action: 'ALLOW', reason_code: 'VENDOR_CONFIRMED', ...body }, key);
const valid = async () => expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
// Spends over 1.00 need a review; nothing else does.
const TERMS = {
  ...AUTHORITY,
  on_purpose_unclear: 'ALLOW',
  monthly_budget_minor: 10_000_000,
  review_threshold_minor: 100,
};
const agentOf = (more: object = {}) => makeAgent({ ...TERMS, ...more }, { mode: 'ENFORCE' });
const standing = (agent: string, more: object = {}): Promise<Shown> =>
  post(
    '/v1/allowances',
    {
      agent,
      currency: 'EUR',
      amount_minor: 1_000,
      period: 'MONTH',
      expires_at: inDays(30),
      automatic: true,
      answers: ['REVIEW_THRESHOLD_EXCEEDED'],
      merchants: ['Hetzner Online'],
      ...more,
    },
    reviewer,
  );

describe('a standing approval', () => {
  test('answers a review: PASS with who answered and until when, the spend counts in it, and nobody is asked', async () => {
    const agent = await agentOf();
    expect((await ask(agent, 200)).decision).toBe('REVIEW');
    const made = await standing(agent);
    for (const on of [s, beside]) {
      const decided = await ask(agent, 200, {}, on);
      expect(decided).toMatchObject({
        decision: 'ALLOW',
        review_state: null,
        reason_codes: ['WITHIN_AUTHORITY'],
        standing_approval: { id: made.id, answers: ['REVIEW_THRESHOLD_EXCEEDED'] },
      });
      expect(decided.allowance).toBeUndefined();
      const stage = decided.policy_trace.find((each: Shown) => each.stage === 'review_threshold');
      const until = made.expires_at.slice(0, 10);
      expect(stage).toMatchObject({
        outcome: 'PASS',
        reason_code: null,
        detail: `Answered by ${made.id}, user:ada, until ${until}.`,
      });
      expect(decided.reservation.limits.map((each: Shown) => each.name)).toEqual([made.id, made.id]);
    }
    expect(await get(`/v1/allowances/${made.id}`)).toMatchObject({
      automatic: true,
      standing: { used_minor: 400, used_count: 2 },
    });
    expect(await walk(`/v1/decisions?allowance=${made.id}`)).toHaveLength(2);
    expect((await walk(`/v1/allowances?agent=${agent}&automatic=true`)).map(({ id }) => id)).toEqual([
      made.id,
    ]);
    await valid();
  });

  test('is used only where needed, only for what it is for, and only with room for the whole amount: else REVIEW, never DENY', async () => {
    const agent = await agentOf();
    const made = await standing(agent, { amount_minor: 500, per_spend_limit_minor: 300, max_count: 2 });
    const small = await ask(agent, 50);
    expect([small.decision, small.standing_approval]).toEqual(['ALLOW', undefined]);
    expect((await ask(agent, 200, { action: { merchant: 'Amazon' } })).decision).toBe('REVIEW');
    expect((await ask(agent, 301)).decision).toBe('REVIEW');
    expect((await ask(agent, 250)).standing_approval.id).toBe(made.id);
    // 250 is left.
    expect((await ask(agent, 251)).decision).toBe('REVIEW');
    expect((await ask(agent, 120)).standing_approval.id).toBe(made.id);
    // Its two spends are used up.
    expect((await ask(agent, 101)).decision).toBe('REVIEW');
    expect((await get(`/v1/allowances/${made.id}`)).standing).toMatchObject({
      used_minor: 370,
      used_count: 2,
    });
  });

  test('is in the shadow report with what it answered in SHADOW, and with nothing that named it or was decided in ENFORCE', async () => {
    const agent = await makeAgent(TERMS, { mode: 'SHADOW' });
    const named = await standing(agent, { name: 'Servers' });
    const busy = await standing(agent, { expires_at: inDays(1) });
    for (const amount_minor of [200, 300, 400])
      expect((await ask(agent, amount_minor)).standing_approval.id).toBe(busy.id);
    // 100 is left of the first one.
    expect((await ask(agent, 200)).standing_approval.id).toBe(named.id);
    expect((await ask(agent, 150, { allowance: named.id })).standing_approval).toBeUndefined();
    const other = await agentOf();
    const elsewhere = await standing(other);
    expect((await ask(other, 200)).standing_approval.id).toBe(elsewhere.id);
    const row = (allowance: object, count: number, amount_minor: number) => ({
      allowance,
      agent: { slug: agent },
      count,
      amounts: [{ currency: 'EUR', count, amount_minor }],
    });
    const rows = [row({ id: busy.id, name: null }, 3, 900), row({ id: named.id, name: 'Servers' }, 1, 200)];
    for (const query of ['', `?agent=${agent}`])
      expect((await get(`/v1/reports/shadow${query}`)).by_standing_approval).toMatchObject(rows);
    expect((await get(`/v1/reports/shadow?agent=${other}`)).by_standing_approval).toEqual([]);
    const before = '?from=2026-01-01&to=2026-01-02';
    expect((await get(`/v1/reports/shadow${before}`)).by_standing_approval).toEqual([]);
    const { text } = await s.call('GET', '/v1/reports/shadow', { headers: { accept: 'text/csv' } });
    expect(text).toContain(`by_standing_approval,${busy.id},3,,,,EUR,3,900,`);
  });

  test('must answer all of it, changes no DENY, and the earliest to expire with room goes first', async () => {
    const agent = await agentOf({ on_purpose_unclear: 'REVIEW', per_transaction_limit_minor: 5_000 });
    const late = await standing(agent, { answers: ['REVIEW_THRESHOLD_EXCEEDED', 'NEW_MERCHANT'] });
    const early = await standing(agent, { expires_at: inDays(2), amount_minor: 150 });
    expect((await ask(agent, 120)).standing_approval.id).toBe(early.id);
    expect((await ask(agent, 120)).standing_approval.id).toBe(late.id);
    expect((await ask(agent, 6_000)).decision).toBe('DENY');
    const odd = { action: { merchant: 'Zxqv Holdings', description: 'Assorted items' } };
    await standing(agent, { merchants: ['Zxqv Holdings'] });
    expect(await ask(agent, 120, odd)).toMatchObject({
      decision: 'REVIEW',
      reason_codes: ['PURPOSE_UNCLEAR', 'REVIEW_THRESHOLD_EXCEEDED'],
    });
  });

  test('leaves the assessment as it is', async () => {
    const agent = await agentOf({ on_purpose_unclear: 'REVIEW', review_threshold_minor: undefined });
    const odd = { action: { merchant: 'Zxqv Holdings', description: 'Assorted items' } };
    const before = await ask(agent, 200, odd);
    expect(before).toMatchObject({ decision: 'REVIEW', reason_codes: ['PURPOSE_UNCLEAR'] });
    await standing(agent, { merchants: ['Zxqv Holdings'], answers: ['PURPOSE_UNCLEAR'] });
    const after = await ask(agent, 200, odd);
    expect(after).toMatchObject({ decision: 'ALLOW', purpose: { assessment: 'PURPOSE_UNCLEAR' } });
    expect(after.standing_approval.answers).toEqual(['PURPOSE_UNCLEAR']);
  });

  test('ends on the next request after a revocation, on every node; a change of its amount counts at once', async () => {
    const agent = await agentOf();
    const made = await standing(agent);
    expect((await ask(agent, 200, {}, beside)).decision).toBe('ALLOW');
    await s.call('PATCH', `/v1/allowances/${made.id}`, { body: { amount_minor: 300 } });
    expect((await ask(agent, 200, {}, beside)).decision).toBe('REVIEW');
    await s.call('PATCH', `/v1/allowances/${made.id}`, { body: { amount_minor: 3_000 } });
    const held = await ask(agent, 200, {}, beside);
    expect(held.decision).toBe('ALLOW');
    await send(`/v1/allowances/${made.id}/revoke`, {});
    expect((await ask(agent, 200, {}, beside)).decision).toBe('REVIEW');
    expect((await ask(agent, 200)).decision).toBe('REVIEW');
    await valid();
  });

  test('needs its fields, and is not for agents to make', async () => {
    const agent = await agentOf();
    const body = {
      agent,
      currency: 'EUR',
      amount_minor: 5,
      expires_at: inDays(1),
      automatic: true,
      answers: ['PURPOSE_UNCLEAR'],
      merchants: ['Hetzner'],
    };
    for (const without of ['answers', 'merchants'])
      expect(fieldOf(await send('/v1/allowances', { ...body, [without]: undefined }))).toBe('automatic');
    expect(fieldOf(await send('/v1/allowances', { ...body, answers: ['OVER_BUDGET'] }))).toMatch(/^answers/);
    const above = await post('/v1/allowances', { ...body, automatic: false, answers: undefined });
    const { key } = await makeKey(s, { agent_id: agent });
    for (const [field, value] of Object.entries({ answers: ['PURPOSE_UNCLEAR'], automatic: true })) {
      const reply = await send('/v1/allowances', { parent: above.id, amount_minor: 1, [field]: value }, key);
      expect(refusal(reply)).toEqual([403, 'insufficient_scope']);
      expect(reply.body.error.message).toContain(field);
    }
  });

  test('is one of at most 100 that are open for an agent', async () => {
    const agent = await agentOf();
    const one = {
      agent,
      currency: 'EUR',
      amount_minor: 5,
      expires_at: inDays(1),
      automatic: true,
      answers: ['PURPOSE_UNCLEAR'],
      merchants: ['Hetzner'],
    };
    const { data } = await post('/v1/allowances/batch', {
      allowances: Array.from({ length: 100 }, () => one),
    });
    expect(refusal(await send('/v1/allowances', one))).toEqual([409, 'allowance_limit']);
    await send(`/v1/allowances/${data[0].id}/revoke`, {});
    expect((await send('/v1/allowances', one)).status).toBe(201);
  });
});

test('what a named allowance answers passes, and the rest needs a standing approval', async () => {
  const agent = await agentOf();
  const named = await post('/v1/allowances', {
    agent,
    currency: 'EUR',
    amount_minor: 1_000,
    expires_at: inDays(1),
    answers: ['REVIEW_THRESHOLD_EXCEEDED'],
  });
  const below = await post('/v1/allowances', { parent: named.id, amount_minor: 500 });
  const decided = await ask(agent, 200, { allowance: below.id });
  expect(decided).toMatchObject({ decision: 'ALLOW', allowance: { id: below.id } });
  expect(decided.standing_approval).toBeUndefined();
  expect((await ask(agent, 200)).decision).toBe('REVIEW');
});

describe('a review that allows', () => {
  const terms = (more: object = {}) => ({ amount_minor: 1_000, expires_at: inDays(30), ...more });
  const NOT_OFFERED = { offered: false, effect: null, most_minor: null };

  test('makes a standing approval of what it answered, in one change', async () => {
    const agent = await agentOf();
    const waits = await ask(agent, 200, { action: { payee_id: 'stripe:acct_1' } });
    expect((await get(`/v1/decisions/${waits.decision_id}/sheet`, reviewer)).standing_approval).toEqual({
      offered: true,
      effect:
        'Up to this amount, requests of this agent for “Hetzner Online”, paid at this payee, no longer need a review because they are over the review threshold.',
      most_minor: null,
    });
    const reply = await review(waits.decision_id, { standing_approval: terms() });
    expect(reply.status, reply.text).toBe(201);
    expect(reply.body).toMatchObject({
      effective_decision: 'ALLOW',
      allowance: {
        status: 'OPEN',
        source: 'REVIEW',
        automatic: true,
        agent: { slug: agent },
        currency: 'EUR',
        amount_minor: 1_000,
        period: 'MONTH',
        merchants: ['Hetzner Online'],
        payee_ids: ['stripe:acct_1'],
        answers: ['REVIEW_THRESHOLD_EXCEEDED'],
        created_by: { principal_id: 'user:ada' },
      },
    });
    const paid = await ask(agent, 200, { action: { payee_id: 'stripe:acct_1' } });
    expect(paid).toMatchObject({ decision: 'ALLOW', standing_approval: { id: reply.body.allowance.id } });
    expect((await ask(agent, 200, { action: { payee_id: 'stripe:acct_2' } })).decision).toBe('REVIEW');
    await valid();
  });

  test('makes none where something else would have to be answered, or nothing is kept at all', async () => {
    const agent = await agentOf();
    const waits = await ask(agent, 200);
    const id = waits.decision_id;
    for (const [body, field] of [
      [{ action: 'DENY', standing_approval: terms() }, 'standing_approval'],
      [{ standing_approval: terms({ expires_at: inDays(-1) }) }, 'standing_approval.expires_at'],
      [{ standing_approval: terms({ expires_at: inDays(367) }) }, 'standing_approval.expires_at'],
      [{ standing_approval: terms({ amount_minor: 0 }) }, 'standing_approval.amount_minor'],
      [{ standing_approval: terms({ merchants: ['Any'] }) }, 'standing_approval.merchants'],
    ] as const) {
      const reply = await review(id, body);
      expect([reply.status, fieldOf(reply)], reply.text).toEqual([400, field]);
    }
    expect((await get(`/v1/decisions/${id}`)).review_state).toBe('PENDING');
    expect(await walk(`/v1/allowances?agent=${agent}`)).toEqual([]);
    const twice = await agentOf({ duplicate_window_seconds: 600 });
    await ask(twice, 50);
    const duplicate = await ask(twice, 50);
    expect(duplicate.reason_codes).toEqual(['DUPLICATE_SPEND']);
    expect((await get(`/v1/decisions/${duplicate.decision_id}/sheet`, reviewer)).standing_approval).toEqual(
      NOT_OFFERED,
    );
  });

  test('needs an administrator beyond the limit of the authority', async () => {
    const { key } = await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:bob' });
    const agent = await agentOf({ reviewer_allowance_limit_minor: 500 });
    const waits = await ask(agent, 200);
    expect(refusal(await review(waits.decision_id, { standing_approval: terms() }, key))).toEqual([
      403,
      'insufficient_scope',
    ]);
    expect((await get(`/v1/decisions/${waits.decision_id}/sheet`, key)).standing_approval).toMatchObject({
      offered: true,
      most_minor: 500,
    });
    const without = await ask(await agentOf(), 200);
    expect((await get(`/v1/decisions/${without.decision_id}/sheet`, key)).standing_approval).toEqual(
      NOT_OFFERED,
    );
    expect(
      (await review(waits.decision_id, { standing_approval: terms({ amount_minor: 500 }) }, key)).status,
    ).toBe(201);
  });
});

test('where the review policy asks for several or signed approvals, nothing is answered ahead', async () => {
  const agent = await agentOf();
  await standing(agent, { amount_minor: 100_000 });
  const put = (policy: object) => s.call('PUT', '/v1/review-policy', { body: { policy } });
  const policy = { tiers: [{ currency: 'EUR', from_minor: 500, approvals: 2 }] };
  const reply = await put(policy);
  expect(reply.status, reply.text).toBeLessThan(300);
  expect((await ask(agent, 499)).decision).toBe('ALLOW');
  const waits = await ask(agent, 500);
  expect(waits.decision).toBe('REVIEW');
  await put({});
});

test('a replay of the authority that decided finds again what was answered ahead', async () => {
  const agent = await agentOf();
  const made = await standing(agent);
  await ask(agent, 200);
  await send(`/v1/allowances/${made.id}/revoke`, {});
  await ask(agent, 200);
  const { authority } = await get(`/v1/agents/${agent}/authority`);
  const replay = await send(`/v1/agents/${agent}/authority/simulate`, authority);
  expect(replay.status, replay.text).toBe(200);
  expect([replay.body.evaluated, replay.body.changed]).toEqual([2, []]);
});

test('a test of an authority says what its standing approvals answer', async () => {
  const steps = [
    { at: '2026-12-01T08:00:00Z', decide: spend(undefined, 200), expect: { decision: 'ALLOW' } },
    { at: '2026-12-01T09:00:00Z', decide: spend(undefined, 900), expect: { decision: 'REVIEW' } },
  ];
  const reply = await send('/v1/authority/test', {
    authority: TERMS,
    allowances: [
      {
        as: 'standing',
        currency: 'EUR',
        amount_minor: 1_000,
        expires_at: '2026-12-31T00:00:00Z',
        automatic: true,
        answers: ['REVIEW_THRESHOLD_EXCEEDED'],
        merchants: ['Hetzner Online'],
      },
    ],
    steps,
  });
  expect(reply.status, reply.text).toBe(200);
  expect(reply.body.passed, reply.text).toBe(true);
});
