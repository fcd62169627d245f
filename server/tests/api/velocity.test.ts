import type { Authority } from '@purser/contract/authority';
import { AnswersRead, NO_ANSWERS } from '@purser/rules/domain/question-history';
import { duplicateSubjects } from '@purser/rules/policy/counters';
import { expect } from 'vitest';
import { type CreateDecisionInput, makeCreateDecision } from '../../src/engine/commands/create-decision.ts';
import { sweepOldCounters } from '../../src/service/workers/sweep-counters.ts';
import {
  AUTHORITY,
  freshKey,
  makeKey,
  makeTestCore,
  type RunningService,
  spend,
  startTestService,
} from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

/** A stopped clock: 12:00 of a Sunday in UTC, so that days, weeks and months have hours before and behind. */
const NOW_MS = Date.UTC(2026, 10, 22, 12);
const { test, s, get, post, ask, makeAgent } = serviceTest({ plan: 'team', stopped_at_ms: NOW_MS });

const day = (limit: object) => ({ velocity_limits: [{ name: 'day', window: 'DAY', ...limit }] });
const agentWith = (authority: object, mode = 'ENFORCE') =>
  makeAgent({ on_purpose_unclear: 'ALLOW', ...authority }, { mode });
const stage = (decision: { policy_trace: { stage: string }[] }, name = 'velocity') =>
  decision.policy_trace.filter((each) => each.stage === name) as unknown as Record<string, unknown>[];
const limitsOf = async (agent: string, name: string) =>
  (await get(`/v1/agents/${agent}/limits`)).data.filter((each: { name: string }) => each.name === name);
const outcome = (id: string, body: object, key?: string) => post(`/v1/decisions/${id}/outcomes`, body, key);
const isValid = async () => (await get('/v1/ledger/verify')).breaks;

test('an amount and a count of a day hold together, and what would pass both is let through', async () => {
  const agent = await agentWith(day({ limit_amount_minor: 10_000, limit_count: 3 }));
  for (const amount of [4_000, 3_999]) expect((await ask(agent, amount)).decision).toBe('ALLOW');
  const over = await ask(agent, 4_001);
  expect([over.decision, over.reason_code]).toEqual(['DENY', 'VELOCITY_LIMIT_EXCEEDED']);
  expect(stage(over)[0]).toEqual({
    stage: 'velocity',
    name: 'day',
    outcome: 'DENY',
    reason_code: 'VELOCITY_LIMIT_EXCEEDED',
    observed: 12_000,
    limit: 10_000,
    detail:
      'Requested EUR 40.01, over the EUR 20.01 left of the limit "day" (EUR 100.00 a day). It resets at 2026-11-23 00:00 UTC.',
  });
  expect((await ask(agent, 2_000)).decision).toBe('ALLOW');
  const fourth = await ask(agent, 1);
  expect(stage(fourth).map((each) => [each.outcome, each.observed, each.limit])).toEqual([
    ['PASS', 10_000, 10_000],
    ['DENY', 4, 3],
  ]);
  expect(fourth.explanation).toBe(
    'This would be payment 4 today. The limit "day" allows 3. It resets at 2026-11-23 00:00 UTC.',
  );
});

test('what stands in a decision is what it counts in, and what it left of it', async () => {
  const agent = await agentWith(day({ limit_amount_minor: 10_000, limit_count: 3 }));
  const { reservation } = await ask(agent, 4_000);
  expect(reservation.limits).toEqual([
    {
      name: 'day',
      kind: 'velocity',
      subject: null,
      window: { type: 'DAY', starts_at: '2026-11-22T00:00:00.000Z', ends_at: '2026-11-23T00:00:00.000Z' },
      limit_minor: 10_000,
      used_minor: 4_000,
      held_minor: 4_000,
      remaining_minor: 6_000,
      limit_count: 3,
      used_count: 1,
      counted_since: null,
      counter_id: expect.stringMatching(/^vel_[0-9a-f]{32}$/),
    },
  ]);
  expect((await ask(await agentWith({}), 4_000)).reservation).not.toHaveProperty('limits');
});

test('a count cannot be capped', async () => {
  const agent = await agentWith(day({ limit_count: 1 }));
  await ask(agent, 500);
  const second = await ask(agent, 1, { limitable: true });
  expect([second.decision, second.authorized_amount_minor]).toEqual(['DENY', 0]);
  expect(second.remedies).toEqual([
    { type: 'RETRY_AT', at: '2026-11-23T00:00:00.000Z', clears: ['VELOCITY_LIMIT_EXCEEDED'], then: 'ALLOW' },
  ]);
});

test('an amount is capped to the least that limits leave, and nothing counts where that is too little', async () => {
  const agent = await agentWith({ ...day({ limit_amount_minor: 17_000 }), monthly_budget_minor: 15_000 });
  await ask(agent, 10_000);
  const tight = await ask(agent, 10_001, { limitable: true, min_amount_minor: 6_000 });
  expect([tight.decision, tight.reason_code]).toEqual(['DENY', 'MIN_AMOUNT_UNREACHABLE']);
  expect(tight.remedies.map(({ type }: { type: string }) => type)).toEqual(['RETRY_AT']);
  expect((await limitsOf(agent, 'day'))[0]).toMatchObject({ used_minor: 10_000, used_count: 1 });
  const capped = await ask(agent, 10_002, { limitable: true });
  expect([capped.decision, capped.authorized_amount_minor, capped.reason_codes]).toEqual([
    'ALLOW',
    5_000,
    ['AMOUNT_LIMITED'],
  ]);
  expect(capped.policy_trace.filter((each: { outcome: string }) => each.outcome === 'LIMIT')).toHaveLength(2);
  expect(stage(capped)[0]?.detail).toBe(
    'Requested EUR 100.02, reduced to the EUR 70.00 left of the limit "day".',
  );
});

test('over a limit of review a spend is not capped, goes to a person, and counts beyond the limit if allowed', async () => {
  const reviewer = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ann' })).key;
  const agent = await agentWith(day({ limit_amount_minor: 1_000, on_exceeded: 'REVIEW' }));
  const asked = await ask(agent, 1_500, { limitable: true });
  expect([asked.decision, asked.reason_code, asked.reservation.amount_minor]).toEqual([
    'REVIEW',
    'VELOCITY_LIMIT_EXCEEDED',
    1_500,
  ]);
  await post(`/v1/decisions/${asked.decision_id}/reviews`, { action: 'ALLOW', reason_code: 'OK' }, reviewer);
  expect((await limitsOf(agent, 'day'))[0]).toMatchObject({ used_minor: 1_500, remaining_minor: 0 });
});

test('what is cancelled, denied by a person or left until it expires gives back its place', async () => {
  const reviewer = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ann' })).key;
  const agent = await agentWith({ ...day({ limit_count: 1 }), review_threshold_minor: 5_000 });
  const allowed = await ask(agent, 700);
  expect((await ask(agent, 701)).decision).toBe('DENY');
  await outcome(allowed.decision_id, { type: 'SPEND_CANCELLED' });
  const waiting = await ask(agent, 6_000);
  expect(waiting.decision).toBe('REVIEW');
  expect((await ask(agent, 702)).decision).toBe('DENY');
  await post(`/v1/decisions/${waiting.decision_id}/reviews`, { action: 'DENY', reason_code: 'NO' }, reviewer);
  const left = await ask(agent, 6_001);
  expect(left.decision).toBe('REVIEW');
  const hour = Date.parse(left.reservation.expires_at) - NOW_MS;
  await s.setClock(NOW_MS + hour);
  const again = await agentWith(day({ limit_count: 1 }));
  await ask(again, 1);
  expect((await limitsOf(agent, 'day'))[0]).toMatchObject({ used_count: 0, used_minor: 0 });
  expect((await ask(agent, 703)).decision).toBe('ALLOW');
  await s.setClock(NOW_MS);
  expect(await isValid()).toEqual([]);
});

test('a refund gives back money, and no pace', async () => {
  const agent = await agentWith({ ...day({ limit_amount_minor: 1_000 }), monthly_budget_minor: 1_500 });
  const { decision_id } = await ask(agent, 1_000);
  await outcome(decision_id, { type: 'SPEND_EXECUTED', amount_minor: 1_000 });
  await outcome(decision_id, { type: 'REFUNDED' });
  const again = await ask(agent, 999);
  expect([again.decision, again.reason_codes]).toEqual(['DENY', ['VELOCITY_LIMIT_EXCEEDED']]);
  expect(again.reservation.budget.remaining_minor).toBe(1_500);
  expect((await limitsOf(agent, 'day'))[0]).toMatchObject({ used_minor: 1_000, used_count: 1 });
});

test('what is executed on a denial counts where it would have', async () => {
  const agent = await agentWith({
    ...day({ limit_amount_minor: 5_000 }),
    per_transaction_limit_minor: 2_000,
  });
  const { decision, decision_id } = await ask(agent, 2_500);
  expect(decision).toBe('DENY');
  await outcome(decision_id, { type: 'SPEND_EXECUTED', amount_minor: 2_600 });
  expect((await limitsOf(agent, 'day'))[0]).toMatchObject({ used_minor: 2_600, used_count: 1 });
});

test('200 requests at once over four nodes: exactly as many pass as a rolling limit has room for', async () => {
  const agent = await agentWith({
    velocity_limits: [{ name: 'burst', window: 'ROLLING', window_seconds: 3_600, limit_amount_minor: 5_000 }],
  });
  const beside: RunningService[] = [];
  try {
    for (let node = 1; node < 4; node++) beside.push(await startTestService({ beside: s }));
    const nodes = [s, ...beside];
    const askOn = async (node: RunningService) => {
      const given = { key: s.admin_key, body: spend(agent, 100), idempotency_key: freshKey() };
      let reply = await node.call('POST', '/v1/decisions', given);
      // Whoever is told that it takes too long asks again, as clients do.
      while (reply.status === 503) reply = await node.call('POST', '/v1/decisions', given);
      expect([200, 201], reply.text).toContain(reply.status);
      return reply.body;
    };
    const made = await Promise.all(
      Array.from({ length: 200 }, (_, i) => askOn(nodes[i % nodes.length] as RunningService)),
    );
    const passed = made.filter(({ decision }) => decision === 'ALLOW');
    expect([passed.length, made.filter(({ decision }) => decision === 'DENY').length]).toEqual([50, 150]);
    expect((await limitsOf(agent, 'burst'))[0]).toMatchObject({ used_minor: 5_000, used_count: 50 });
  } finally {
    for (const node of beside) await node.stop();
  }
  expect(await isValid()).toEqual([]);
});

test('spellings of one merchant share a count, two payees of one name have two, and what names none shares one', async () => {
  const per = (scope: string, extra = {}) =>
    agentWith({ velocity_limits: [{ name: 'shop', window: 'WEEK', per: scope, limit_count: 1, ...extra }] });
  const at = (merchant: string, payee_id?: string) => ({
    action: { merchant, ...(payee_id === undefined ? {} : { payee_id }) },
  });
  const by_merchant = await per('MERCHANT');
  expect((await ask(by_merchant, 10, at('ACME Paper GmbH'))).decision).toBe('ALLOW');
  expect((await ask(by_merchant, 11, at('acme  paper'))).decision).toBe('DENY');
  expect((await ask(by_merchant, 12, at('Other Paper'))).decision).toBe('ALLOW');
  const by_payee = await per('PAYEE');
  for (const payee of ['sepa:DE1', 'sepa:DE2', undefined]) {
    expect((await ask(by_payee, 20, at('Acme Paper', payee))).decision).toBe('ALLOW');
  }
  expect((await ask(by_payee, 21, at('Another Shop'))).decision).toBe('DENY');
  expect((await ask(by_payee, 22, at('Another Shop', 'sepa:DE1'))).decision).toBe('DENY');
  const lenient = await per('PAYEE', { on_exceeded: 'REVIEW' });
  const unnamed = await ask(lenient, 30, at('Acme Paper'));
  expect(stage(unnamed)).toMatchObject([{ outcome: 'SKIPPED', detail: 'The request names no payee.' }]);
  // It counts, so that the limit is right once it denies.
  expect(unnamed.reservation.limits).toMatchObject([{ name: 'shop', subject: 'p:', used_count: 1 }]);
});

test('the limits of an agent name merchants and payees as they were last asked for', async () => {
  const agent = await agentWith({
    velocity_limits: [
      { name: 'shop', window: 'WEEK', per: 'MERCHANT', limit_count: 9 },
      { name: 'account', window: 'WEEK', per: 'PAYEE', limit_count: 3 },
    ],
  });
  const to = (merchant: string, payee_id?: string) => ({
    action: { merchant, ...(payee_id === undefined ? {} : { payee_id }) },
  });
  await ask(agent, 10, to('HETZNER ONLINE GMBH', 'SEPA:de-1'));
  await ask(agent, 11, to('Hetzner Online', 'sepa:DE1'));
  await ask(agent, 12, to('Iris', 'sepa:DE1'));
  await ask(agent, 13, to('IRIS', 'sepa:DE-1'));
  await ask(agent, 14, to('Nobody'));
  const { data } = await get(`/v1/agents/${agent}/limits`);
  const shown = data.map(({ name, subject_name, used_count }: Record<string, unknown>) => [
    name,
    subject_name,
    used_count,
  ]);
  expect(shown).toEqual(
    expect.arrayContaining([
      ['shop', 'Hetzner Online', 2],
      ['shop', 'Iris', 1],
      ['shop', 'Nobody', 1],
      ['account', 'sepa:DE1', 3],
      ['account', null, 1],
    ]),
  );
  expect(shown).toHaveLength(5);
});

test('one account is one payee in whatever spelling, for limits and for duplicates', async () => {
  const spellings = [
    'sepa:DE44500105175407324931',
    'SEPA:de44500105175407324931',
    'sepa:DE44-5001-0517-5407-3249-31',
  ];
  const limited = await agentWith({
    velocity_limits: [{ name: 'account', window: 'WEEK', per: 'PAYEE', limit_amount_minor: 1_000 }],
  });
  const careful = await agentWith({ duplicate_window_seconds: 3_600, on_duplicate: 'DENY' });
  const decided = async (agent: string) => {
    const kinds: string[] = [];
    for (const payee_id of spellings) {
      const made = await ask(agent, 900, { action: { merchant: 'Acme Paper', payee_id } });
      kinds.push(made.decision);
    }
    return kinds;
  };
  expect(await decided(limited)).toEqual(['ALLOW', 'DENY', 'DENY']);
  expect(await decided(careful)).toEqual(['ALLOW', 'DENY', 'DENY']);
});

test('what an earlier release counted under the spelling of a payee still counts in its window', async () => {
  const agent = await agentWith({
    velocity_limits: [{ name: 'account', window: 'WEEK', per: 'PAYEE', limit_amount_minor: 1_000 }],
  });
  const payee_id = 'stripe:acct_Former';
  const at = { action: { merchant: 'Acme Paper', payee_id } };
  const made = await ask(agent, 400, at);
  const [{ counter_id }] = made.reservation.limits as [{ counter_id: string }];
  const under = (subject: string) => [subject, counter_id];
  await s.sql('update counters set subject = $1 where counter_id = $2', under(`p:${payee_id}`));
  try {
    const next = await ask(agent, 601, at);
    expect([next.decision, next.reason_code]).toEqual(['DENY', 'VELOCITY_LIMIT_EXCEEDED']);
  } finally {
    await s.sql('update counters set subject = $1 where counter_id = $2', under('p:stripe:acctformer'));
  }
});

test('a limit of some merchants and types counts these, as widely as a blocklist would', async () => {
  const agent = await agentWith({
    velocity_limits: [
      { name: 'ads', window: 'MONTH', merchants: ['Google Ads'], limit_amount_minor: 500 },
      { name: 'top-ups', window: 'MONTH', action_types: ['top_up'], limit_count: 1 },
    ],
  });
  expect((await ask(agent, 400, { action: { merchant: 'GOOGLE *ADS 123' } })).decision).toBe('ALLOW');
  const over = await ask(agent, 101, { action: { merchant: 'Google Ads' } });
  expect(stage(over).map(({ name, outcome }) => [name, outcome])).toEqual([
    ['ads', 'DENY'],
    ['top-ups', 'SKIPPED'],
  ]);
  expect((await ask(agent, 600, { action: { merchant: 'Acme' } })).decision).toBe('ALLOW');
  expect((await ask(agent, 601, { action: { merchant: 'Acme', type: 'Top_Up' } })).decision).toBe('ALLOW');
  expect((await ask(agent, 602, { action: { merchant: 'Acme', type: 'top_up' } })).decision).toBe('DENY');
});

test('an authority without limits over time leaves the trace as it was', async () => {
  const { policy_trace } = await ask(await agentWith({}), 10);
  expect(policy_trace.map((each: { stage: string }) => each.stage)).toEqual([
    'authority',
    'currency',
    'merchant',
    'per_transaction_limit',
    'monthly_budget',
    'min_amount',
    'purpose',
    'review_threshold',
  ]);
});

test('in SHADOW limits count as in ENFORCE', async () => {
  const agent = await agentWith(day({ limit_count: 1 }), 'SHADOW');
  await ask(agent, 5);
  const second = await ask(agent, 6);
  expect([second.decision, second.effective_decision]).toEqual(['DENY', 'ALLOW']);
});

test('of two that ask for the same at once one passes, the other is told of it; a replay is a replay', async () => {
  const agent = await agentWith({ duplicate_window_seconds: 600 });
  const body = spend(agent, 4_321);
  const keys = [freshKey(), freshKey()];
  const send = (idempotency_key: string) => s.call('POST', '/v1/decisions', { body, idempotency_key });
  const replies = await Promise.all(keys.map(send));
  const made = replies.map((reply) => reply.body).sort((a, b) => (a.decision_id < b.decision_id ? -1 : 1));
  expect(made.map(({ decision }) => decision)).toEqual(['ALLOW', 'REVIEW']);
  expect(stage(made[1], 'duplicate')).toMatchObject([
    { outcome: 'REVIEW', reason_code: 'DUPLICATE_SPEND', observed: made[0].decision_id },
  ]);
  expect(made[1].explanation).toContain(made[0].decision_id);
  for (const [i, key] of keys.entries()) expect((await send(key)).text).toBe(replies[i]?.text);
  for (const { decision_id } of made) await outcome(decision_id, { type: 'SPEND_CANCELLED' });
  expect((await ask(agent, 4_321)).decision).toBe('ALLOW');
  expect((await ask(agent, 4_322)).decision).toBe('ALLOW');
  expect(await isValid()).toEqual([]);
});

test('payees tell duplicates apart where both are named; to leave the payee out is no way around', async () => {
  const agent = await agentWith({ duplicate_window_seconds: 600, on_duplicate: 'DENY' });
  const to = (payee_id?: string) =>
    ask(agent, 777, { action: { merchant: 'Acme', ...(payee_id === undefined ? {} : { payee_id }) } });
  expect((await to('sepa:DE1')).decision).toBe('ALLOW');
  expect((await to('sepa:DE2')).decision).toBe('ALLOW');
  expect((await to('sepa:DE1')).decision).toBe('DENY');
  expect((await to()).decision).toBe('DENY');
  const other = await agentWith({ duplicate_window_seconds: 600, on_duplicate: 'DENY' });
  expect((await ask(other, 778, { action: { merchant: 'Acme' } })).decision).toBe('ALLOW');
  const named = await ask(other, 778, { action: { merchant: 'Acme', payee_id: 'sepa:DE1' } });
  expect([named.decision, named.reason_code]).toEqual(['DENY', 'DUPLICATE_SPEND']);
});

test('duplicates of an amount that is offered instead are looked for as an earlier release counted them, too', () => {
  const action = { type: 'p', merchant: 'Acmé GmbH', payee_id: 'P-1', amount_minor: 800, currency: 'EUR' };
  const request = { action } as CreateDecisionInput['request'];
  const authority = { ...AUTHORITY, duplicate_window_seconds: 600 } as unknown as Authority;
  const input = {
    agent_id: 'agt_1',
    idempotency_key: 'k',
    request,
    assessed: { authority, questions: [], answers: new AnswersRead(NO_ANSWERS) },
    also_minor: 500,
  };
  const command = makeCreateDecision({ review_ttl_seconds: 60, capability_ttl_seconds: 60 });
  const { counters = [] } = command.needs(input as unknown as CreateDecisionInput);
  const subjects = counters.map(({ subject }) => subject);
  expect(subjects).toEqual(expect.arrayContaining(duplicateSubjects({ ...action, amount_minor: 500 })));
});

test('an amount that an earlier spend had within the window is not offered instead, and any other is', async () => {
  const terms = { per_transaction_limit_minor: 500, duplicate_window_seconds: 600, on_duplicate: 'DENY' };
  const authority = { ...AUTHORITY, on_purpose_unclear: 'ALLOW', ...terms };
  const offered = { type: 'REDUCE_AMOUNT', max_amount_minor: 500, then: 'ALLOW' };
  for (const [earlier, remedies] of [
    [500, [{ type: 'ASK_OPERATOR' }]],
    [499, [offered]],
  ] as const) {
    const agent = await agentWith(terms);
    await ask(agent, earlier);
    const denied = await ask(agent, 800);
    expect([denied.decision, denied.remedies]).toMatchObject(['DENY', remedies]);
    const at = '2026-11-21T12:00:00.000Z';
    const spendOf = (amount_minor: number) => ({
      action: { type: 'p', merchant: 'M', amount_minor, currency: 'EUR' },
    });
    const tested = await s.call('POST', '/v1/authority/test', {
      body: {
        authority,
        mode: 'SHADOW',
        steps: [earlier, 800].map((amount) => ({ at, purpose: 'PURPOSE_ALIGNED', decide: spendOf(amount) })),
      },
    });
    expect(tested.body.steps[1].verdict.remedies, tested.text).toMatchObject(remedies);
    // What is offered is what happens.
    const again = await ask(agent, 500);
    expect(again.decision).toBe(earlier === 500 ? 'DENY' : 'ALLOW');
  }
});

test('changed counters are found by verification, and named', async () => {
  const agent = await agentWith(day({ limit_count: 2, limit_amount_minor: 9_000 }));
  await ask(agent, 55);
  expect(await isValid()).toEqual([]);
  const [row] = (
    await s.sql(
      "select counter_id from counters where count = 1 and held_minor = 55 and counter_id like 'vel%'",
    )
  ).rows;
  const change = (to: string) => s.sql(`update counters set ${to} where counter_id = $1`, [row.counter_id]);
  await change('count = count - 1');
  const [found] = await isValid();
  expect(found).toMatchObject({ kind: 'ROW_MISMATCH', detail: expect.stringContaining(row.counter_id) });
  await change('count = count + 1');
  expect(await isValid()).toEqual([]);
});

test('a new limit knows what was spent before it, and a number that is changed keeps its count', async () => {
  const agent = await agentWith({});
  const set = (authority: object) =>
    post(`/v1/agents/${agent}/authority`, {
      ...AUTHORITY,
      on_purpose_unclear: 'ALLOW',
      ...authority,
    });
  const spent = await ask(agent, 900);
  await outcome(spent.decision_id, { type: 'SPEND_EXECUTED', amount_minor: 850 });
  await outcome(spent.decision_id, { type: 'PARTIALLY_REFUNDED', amount_minor: 100 });
  await outcome((await ask(agent, 40)).decision_id, { type: 'SPEND_FAILED' });
  await ask(agent, 45, { action: { merchant: 'Other Paper' } });
  await set({
    ...day({ limit_amount_minor: 1_000 }),
    duplicate_window_seconds: 600,
  });
  const [standing] = await limitsOf(agent, 'day');
  expect(standing).toMatchObject({ used_minor: 895, used_count: 2, counted_since: null });
  expect((await ask(agent, 200)).decision).toBe('DENY');
  const again = await ask(agent, 45, { action: { merchant: 'OTHER PAPER' } });
  expect([again.decision, again.reason_code]).toEqual(['REVIEW', 'DUPLICATE_SPEND']);
  await set(day({ limit_amount_minor: 1_200 }));
  expect((await ask(agent, 201)).decision).toBe('ALLOW');
  await set({});
  await ask(agent, 7);
  await set(day({ limit_amount_minor: 1_200 }));
  expect((await limitsOf(agent, 'day'))[0]).toMatchObject({ used_minor: 895 + 45 + 201 + 7, used_count: 5 });
  expect(await isValid()).toEqual([]);
  const [{ counter_id }] = (
    await s.sql('select counter_id from counters where held_minor = 298 and committed_minor = 850')
  ).rows;
  const add = (minor: number) =>
    s.sql('update counters set committed_minor = committed_minor + $1 where counter_id = $2', [
      minor,
      counter_id,
    ]);
  await add(-1);
  expect(await isValid()).toMatchObject([
    { kind: 'ROW_MISMATCH', detail: expect.stringContaining(counter_id) },
  ]);
  await add(1);
  expect(await isValid()).toEqual([]);
});

test('slots that are over are swept a day later, and not before', async () => {
  const agent = await agentWith(day({ limit_count: 5 }));
  await ask(agent, 61);
  const core = makeTestCore(s.database.connection, s.checkpoint_dir);
  const rows = async () => Number((await s.sql('select count(*) from counters')).rows[0].count);
  const before = await rows();
  await s.setClock(Date.UTC(2026, 10, 23, 11, 59));
  await sweepOldCounters(core.db);
  expect(await rows()).toBe(before);
  await s.setClock(Date.UTC(2026, 11, 26));
  await sweepOldCounters(core.db);
  expect(await rows()).toBe(0);
  await core.close();
  expect(await isValid()).toEqual([]);
});
