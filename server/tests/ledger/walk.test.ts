import fc from 'fast-check';
import { expect } from 'vitest';
import { freshKey, makeKey, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

/**
 * Many clients at once do whatever may be done to decisions, at moments before and after everything that runs out. In
 * between nothing may ever be said to be broken. A failure prints its seed: run it again with WALK_SEED.
 */
const SEED = Number(process.env.WALK_SEED ?? 20_261_122);
const ROUNDS = Number(process.env.WALK_ROUNDS);
const CLIENTS = 12;
const CAPABILITY_TTL_S = 60;
const REVIEW_TTL_S = 120;
const BEGIN_MS = Date.UTC(2026, 10, 21, 8);

const { test, s, makeAgent, keyWith } = serviceTest({
  stopped_at_ms: BEGIN_MS,
  plan: 'enterprise',
  env: { CAPABILITY_TTL_SECONDS: String(CAPABILITY_TTL_S), REVIEW_TTL_SECONDS: String(REVIEW_TTL_S) },
});
let adapter: string;
let reviewer: string;
const agents: { slug: string; key: string }[] = [];

test.beforeAll(async () => {
  adapter = await keyWith('consume');
  reviewer = await keyWith('review', 'read');
  for (const mode of ['SHADOW', 'ENFORCE', 'ENFORCE']) {
    const slug = `walker-${agents.length}`;
    const limits = {
      monthly_budget_minor: 200_000,
      review_threshold_minor: 500,
      per_transaction_limit_minor: 900,
    };
    await makeAgent(limits, { slug, mode });
    agents.push({ slug, key: (await makeKey(s, { agent_id: slug })).key });
  }
});

const anyAct = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('decide' as const),
      agent: fc.nat(2),
      amount: fc.integer({ min: 1, max: 1_100 }),
      limitable: fc.boolean(),
      payee: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('review' as const),
      which: fc.nat(30),
      action: fc.constantFrom('ALLOW', 'DENY'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('label' as const), which: fc.nat(30) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('consume' as const), which: fc.nat(30) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('report' as const),
      which: fc.nat(30),
      type: fc.constantFrom(
        'SPEND_EXECUTED',
        'SPEND_EXECUTED',
        'SPEND_FAILED',
        'SPEND_CANCELLED',
        'PARTIALLY_REFUNDED',
        'REFUNDED',
      ),
      amount: fc.integer({ min: 1, max: 900 }),
      by_rail: fc.boolean(),
    }),
  },
);
type Act = typeof anyAct extends fc.Arbitrary<infer T> ? T : never;

interface Known {
  id: string;
  agent: { slug: string; key: string };
  payee: string | undefined;
}

/** Each answer is one that the contract knows: nothing that a client does fails within. */
async function perform(act: Act, known: Known[]): Promise<void> {
  if (act.do === 'decide') {
    const agent = agents[act.agent] as (typeof agents)[number];
    const payee = act.payee ? 'stripe:acct_1' : undefined;
    const action = payee === undefined ? {} : { payee_id: payee };
    const reply = await s.call('POST', '/v1/decisions', {
      key: agent.key,
      idempotency_key: freshKey(),
      body: spend(agent.slug, act.amount, { action, limitable: act.limitable }),
    });
    expect(reply.status, reply.text).toBe(201);
    known.push({ id: reply.body.decision_id, agent, payee });
    return;
  }
  const one = known[known.length - 1 - (act.which % Math.max(1, known.length))];
  if (one === undefined) return;
  const path = `/v1/decisions/${one.id}`;
  let reply: Awaited<ReturnType<typeof s.call>>;
  if (act.do === 'review') {
    const { review } = (await s.call('GET', path, { key: reviewer })).body;
    const supersedes = review === null ? {} : { supersedes: review.review_id };
    const body = { action: act.action, reason_code: 'X', ...supersedes };
    reply = await s.call('POST', `${path}/reviews`, { key: reviewer, body });
  } else if (act.do === 'label') {
    reply = await s.call('POST', `${path}/labels`, { key: reviewer, body: { label: 'PURPOSE_ALIGNED' } });
  } else if (act.do === 'consume') {
    const { capability } = (await s.call('GET', path, { key: one.agent.key })).body;
    if (capability === null) return;
    const { token, max_amount_minor } = capability;
    reply = await s.call('POST', '/v1/capabilities/consume', {
      key: adapter,
      idempotency_key: freshKey(),
      body: {
        token,
        amount_minor: Math.ceil(max_amount_minor / 2),
        currency: 'EUR',
        ...(one.payee === undefined ? {} : { payee_id: one.payee }),
      },
    });
  } else {
    const { type, amount, by_rail } = act;
    const needs_amount = type === 'SPEND_EXECUTED' || type === 'PARTIALLY_REFUNDED';
    reply = await s.call('POST', `${path}/outcomes`, {
      key: by_rail ? adapter : one.agent.key,
      body: {
        type,
        ...(needs_amount ? { amount_minor: amount } : {}),
        ...(by_rail ? { source: 'PAYMENT_RAIL' } : {}),
      },
    });
  }
  expect(reply.status, reply.text).toBeLessThan(500);
}

/** An agent's counters are the sums of what its decisions show, and the ledger holds everything to be what it was. */
async function check(): Promise<void> {
  const { body } = await s.call('GET', '/v1/ledger/verify');
  expect(body.breaks).toEqual([]);
  expect(body.valid).toBe(true);
}

test('whatever many clients do at once, before and after all that runs out, history never verifies as broken', async () => {
  const rounds = fc.sample(
    fc.record({
      acts: fc.array(fc.array(anyAct, { minLength: 1, maxLength: 4 }), {
        minLength: CLIENTS,
        maxLength: CLIENTS,
      }),
      // From a moment to beyond everything that runs out.
      pass_s: fc.constantFrom(0, 1, CAPABILITY_TTL_S / 2, CAPABILITY_TTL_S, REVIEW_TTL_S + 1),
    }),
    { seed: SEED, numRuns: ROUNDS },
  );
  const known: Known[] = [];
  let now_ms = BEGIN_MS;
  for (const { acts, pass_s } of rounds) {
    now_ms += pass_s * 1000;
    await s.setClock(now_ms);
    await Promise.all(
      acts.map(async (of_client) => {
        for (const act of of_client) await perform(act, known);
      }),
    );
    await check();
  }
  const { rows } = await s.sql('select distinct type from ledger_events where workspace_id = $1', [
    s.workspace_id,
  ]);
  expect(rows.map((row) => row.type)).toEqual(
    expect.arrayContaining([
      'decision.review.recorded',
      'decision.label.recorded',
      'decision.outcome.recorded',
      'capability.consumed',
      'reservation.expired',
    ]),
  );
});
