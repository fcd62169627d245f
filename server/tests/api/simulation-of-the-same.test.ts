import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { AUTHORITY, freshKey } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

/** Longer: `SIMULATIONS_RUNS=200 npm test -- simulation-of-the-same`. */
const RUNS = Number(process.env.SIMULATIONS_RUNS);
const BEGIN_MS = Date.UTC(2026, 10, 28, 8);
const CAPABILITY_TTL_S = 60;
const REVIEW_TTL_S = 600;
const LIMITS = {
  ...AUTHORITY,
  monthly_budget_minor: 9_000,
  review_threshold_minor: 2_000,
  per_transaction_limit_minor: 3_500,
};
/** With every field that remembers what came before. */
const REMEMBERING = {
  ...LIMITS,
  on_new_merchant: 'REVIEW',
  new_merchant_threshold_minor: 500,
  velocity_limits: [
    { name: 'day', window: 'DAY', limit_amount_minor: 6_000, limit_count: 9 },
    { name: 'hour', window: 'ROLLING', window_seconds: 3_600, limit_amount_minor: 4_000 },
    { name: 'shop', window: 'WEEK', per: 'PAYEE', limit_count: 7, on_exceeded: 'REVIEW' },
  ],
  duplicate_window_seconds: 900,
};

const {
  test,
  s,
  makeAgent,
  ask: decide,
  keyWith,
} = serviceTest({
  plan: 'enterprise',
  stopped_at_ms: BEGIN_MS,
  env: { CAPABILITY_TTL_SECONDS: String(CAPABILITY_TTL_S), REVIEW_TTL_SECONDS: String(REVIEW_TTL_S) },
});
let adapter: string;
let reviewer: string;
let now_ms = BEGIN_MS;

test.beforeAll(async () => {
  adapter = await keyWith('consume');
  reviewer = await keyWith('review', 'read');
});

const newAgent = (authority: object, mode: string) => makeAgent(authority, { mode });

/** The same authority again, over so many of the newest decisions. */
async function simulate(agent: string, authority: object, limit: number) {
  const path = `/v1/agents/${agent}/authority/simulate?limit=${limit}`;
  const answer = await s.call('POST', path, { body: authority });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function expectNoChange(agent: string, authority: object, limit: number, made: number): Promise<void> {
  const body = await simulate(agent, authority, limit);
  expect([limit, body.changed, body.transitions]).toEqual([limit, [], []]);
  expect(body.draft).toEqual(body.current);
  expect(body.evaluated).toBe(Math.min(limit, made));
}

const step = fc.record({
  what: fc.constantFrom(
    'spend',
    'spend',
    'spend',
    'spend',
    'executed',
    'failed',
    'refund',
    'deny',
    'allow',
    'consume',
    'wait',
  ),
  // Some sums come twice, so that spends repeat others.
  amount: fc.oneof(fc.integer({ min: 1, max: 4_000 }), fc.constantFrom(400, 900)),
  limitable: fc.boolean(),
  payee: fc.boolean(),
  pick: fc.nat(),
});

// biome-ignore lint/suspicious/noExplicitAny: decisions of every state.
type Made = any;

async function perform(
  agent: string,
  made: Made[],
  given: typeof step extends fc.Arbitrary<infer T> ? T : never,
) {
  const { what, amount, limitable, payee, pick } = given;
  const one = made[pick % Math.max(1, made.length)];
  if (what === 'wait') {
    now_ms += ([1, CAPABILITY_TTL_S, REVIEW_TTL_S, 86_400][pick % 4] as number) * 1_000;
    await s.setClock(now_ms);
  } else if (what === 'spend' || one === undefined) {
    const action = payee ? { payee_id: `iban:${pick % 3}` } : {};
    made.push(await decide(agent, amount, { limitable, action }));
  } else if (what === 'deny' || what === 'allow') {
    const supersedes = one.review_id === undefined ? {} : { supersedes: one.review_id };
    // A replay goes by the answers in force now, so nothing here answers a question.
    if (what === 'allow' && one.purpose.questions.length > 0) return;
    const answer = await s.call('POST', `/v1/decisions/${one.decision_id}/reviews`, {
      key: reviewer,
      body: { action: what.toUpperCase(), reason_code: 'X', questions: [], ...supersedes },
    });
    if (answer.status === 201) one.review_id = answer.body.review_id;
  } else if (what === 'consume') {
    if (one.capability === null) return;
    await s.call('POST', '/v1/capabilities/consume', {
      key: adapter,
      idempotency_key: freshKey(),
      body: {
        token: one.capability.token,
        amount_minor: Math.max(1, Math.floor(one.authorized_amount_minor / 2)),
        currency: 'EUR',
        ...(one.action.payee_id && { payee_id: one.action.payee_id }),
      },
    });
  } else {
    const type = { executed: 'SPEND_EXECUTED', failed: 'SPEND_FAILED', refund: 'PARTIALLY_REFUNDED' }[what];
    const by_rail = pick % 3 === 0;
    await s.call('POST', `/v1/decisions/${one.decision_id}/outcomes`, {
      ...(by_rail && { key: adapter }),
      body: { type, amount_minor: amount, ...(by_rail && { source: 'PAYMENT_RAIL' }) },
    });
  }
}

describe('the authority under which everything was decided changes nothing, however few decisions are replayed', () => {
  test.each(['SHADOW', 'ENFORCE'])(
    'the same authority changes nothing, whatever happened to the decisions since, in %s',
    async (mode) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 20, maxLength: 40 }),
          fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 3, maxLength: 3 }),
          async (steps, limits) => {
            const agent = await newAgent(REMEMBERING, mode);
            // biome-ignore lint/suspicious/noExplicitAny: decisions of every state.
            const made: any[] = [];
            for (const each of steps) await perform(agent, made, each);
            for (const limit of [...limits, 500])
              await expectNoChange(agent, REMEMBERING, limit, made.length);
          },
        ),
        { numRuns: RUNS, seed: 11, endOnFailure: true },
      );
    },
  );

  test('the same authority changes nothing where the month was full before the first decision, or money came back between', async () => {
    const authority = { ...LIMITS, monthly_budget_minor: 3_000 };
    const agent = await newAgent(authority, 'SHADOW');
    const made = [];
    for (let i = 0; i < 6; i++) made.push(await decide(agent, 1_000));
    expect(made.map((each) => each.decision)).toEqual(['ALLOW', 'ALLOW', 'ALLOW', 'DENY', 'DENY', 'DENY']);
    for (let limit = 1; limit <= 6; limit++) await expectNoChange(agent, authority, limit, 6);
    // A hold from before those that are replayed goes while they are made.
    await s.call('POST', `/v1/decisions/${made[0].decision_id}/outcomes`, { body: { type: 'SPEND_FAILED' } });
    made.push(await decide(agent, 1_000), await decide(agent, 1_000));
    expect(made.slice(-2).map((each) => each.decision)).toEqual(['ALLOW', 'DENY']);
    for (let limit = 1; limit <= 8; limit++) await expectNoChange(agent, authority, limit, 8);
  });

  test('what another draft holds follows what really happened to the decision', async () => {
    const authority = { ...LIMITS, monthly_budget_minor: 3_000 };
    const agent = await newAgent(authority, 'SHADOW');
    const first = await decide(agent, 1_000);
    const second = await decide(agent, 1_500);
    const third = await decide(agent, 1_000);
    expect(third.decision).toBe('DENY');
    await s.call('POST', `/v1/decisions/${first.decision_id}/outcomes`, { body: { type: 'SPEND_FAILED' } });
    const fourth = await decide(agent, 1_000);
    expect(fourth.decision).toBe('ALLOW');
    // Over the newest three: the first's hold is there until it fails, and the second is denied by the draft.
    const draft = { ...authority, per_transaction_limit_minor: 1_200 };
    const body = await simulate(agent, draft, 3);
    expect(body.transitions).toEqual([
      { from: 'ALLOW', to: 'DENY', count: 1, amount_minor: 1_500 },
      { from: 'DENY', to: 'ALLOW', count: 1, amount_minor: 1_000 },
    ]);
    expect(body.changed.map((each: { decision_id: string }) => each.decision_id)).toEqual([
      third.decision_id,
      second.decision_id,
    ]);
  });
});
