import { domainToASCII, domainToUnicode } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as withoutNode from '../../scripts/without-node.mjs';
import { takesMinutes } from '../../server/tests/support/until.ts';
import { type AuthorityRequest, type Decision, type DecisionRequest, Purser } from '../src/index.ts';
import { fakePurser } from '../src/testing/index.ts';
import { makeKey, type RunningService, startTestService } from './service.ts';

takesMinutes(5);

const RUNS = Number(process.env.FAKE_RUNS);

let s: RunningService;
beforeAll(async () => {
  s = await startTestService({ plan: 'enterprise' });
});
afterAll(() => s.stop());

const merchant = fc.constantFrom(
  'Hetzner Online',
  'HETZNER ONLINE GMBH 0123',
  'PAYPAL *HETZNER ONLINE 4029357733',
  'hetzner.com',
  'shop.hetzner.com',
  'Bücher & Söhne',
  'Buecher',
  'bücher.de',
  'xn--bcher-kva.de',
);
const amount = fc.integer({ min: 1, max: 400 });
const optional = { requiredKeys: ['currency'] as ['currency'] };

/** Purpose is left out on both sides: whatever is unclear passes, and the objective conflicts with no request below. */
const PURPOSE = { objective: 'Run the staging servers', context: 'Servers and books' };
const terms = fc.record(
  {
    currency: fc.constantFrom('EUR', 'EUR', 'EUR', 'USD'),
    per_transaction_limit_minor: amount,
    review_threshold_minor: amount,
    monthly_budget_minor: fc.integer({ min: 100, max: 900 }),
    blocked_merchants: fc.array(merchant, { maxLength: 2 }),
    on_new_merchant: fc.constantFrom('ALLOW', 'REVIEW'),
    allowed_action_types: fc.constant<string[]>(['purchase']),
    review_action_types: fc.constant<string[]>(['subscription']),
    velocity_limits: fc.constantFrom<NonNullable<AuthorityRequest['velocity_limits']>[]>(
      [{ name: 'hourly', window: 'ROLLING', window_seconds: 3_600, limit_amount_minor: 500 }],
      [{ name: 'often', window: 'ROLLING', window_seconds: 3_600, per: 'MERCHANT', limit_count: 2 }],
    ),
  },
  optional,
);
const lists = fc.record({
  allowed_merchants: fc.array(merchant, { minLength: 1, maxLength: 3 }),
  on_other_merchants: fc.constantFrom('ALLOW', 'REVIEW', 'DENY'),
});
const duplicates = fc.record({
  duplicate_window_seconds: fc.constant(3_600),
  on_duplicate: fc.constantFrom('DENY', 'REVIEW'),
});
const authority = fc
  .tuple(terms, fc.option(lists), fc.option(duplicates))
  .map((parts): Omit<AuthorityRequest, 'purpose'> => Object.assign({}, ...parts));

const request: fc.Arbitrary<DecisionRequest> = fc.record({
  action: fc.record({
    type: fc.constantFrom('purchase', 'purchase', 'purchase', 'subscription', 'top_up'),
    merchant,
    amount_minor: amount,
    currency: fc.constantFrom('EUR', 'EUR', 'EUR', 'USD'),
    payee_id: fc.constantFrom(undefined, 'stripe:acct_1', 'stripe:acct_2'),
    description: fc.constant('A server for staging'),
  }),
  limitable: fc.boolean(),
});
const step = fc.record({
  request,
  then: fc.constantFrom('nothing', 'nothing', 'allow', 'deny', 'pay', 'fail', 'consume'),
});

/**
 * The parts of a decision that are compared. Moments and the assessment of purpose differ; `earlier` has the ids of the
 * decisions before it, which stand for their places.
 */
function decided({ reservation, ...made }: Decision, earlier: readonly string[]) {
  const placeOf = (observed: unknown) =>
    earlier.includes(observed as string) ? `decision ${earlier.indexOf(observed as string)}` : observed;
  const { status, amount_minor, budget, limits = [] } = reservation;
  const { decision, effective_decision, review_state, reason_codes, authorized_amount_minor } = made;
  return {
    decision,
    effective_decision,
    review_state,
    reason_codes,
    authorized_amount_minor,
    policy_trace: made.policy_trace
      .filter(({ stage }) => stage !== 'purpose')
      .map(({ stage, name, outcome, reason_code, observed, limit }) => [
        ...[stage, name, outcome, reason_code, placeOf(observed), limit],
      ]),
    remedies: made.remedies?.map((remedy) => ({ ...remedy, at: null, expires_at: null })),
    reservation: { status, amount_minor, budget },
    limits: limits.map(({ name, subject, used_minor, used_count }) => [
      name,
      subject,
      used_minor,
      used_count,
    ]),
    capability: made.capability?.status,
  };
}

test('with the same authority the fake decides as the service does, whatever was decided and paid before', async () => {
  const admin = new Purser({ apiKey: s.admin_key, baseURL: s.url });
  const { key: adapter_key } = await makeKey(s, { scopes: ['consume'] });
  const { key: reviewer_key } = await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' });
  let agents = 0;
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('ENFORCE' as const, 'SHADOW' as const),
      authority,
      fc.array(step, { minLength: 6, maxLength: 12 }),
      async (mode, made, steps) => {
        const of_both = { ...made, purpose: PURPOSE, on_purpose_unclear: 'ALLOW' } as const;
        const slug = `fake-${++agents}`;
        const agent = await admin.agents.create({ slug, mode, authority: of_both });
        const fake = fakePurser({ mode, agent: slug, authority: of_both });
        const stages = [
          [(await makeKey(s, { agent_id: agent.id })).key, reviewer_key, adapter_key].map(
            (apiKey) => new Purser({ apiKey, baseURL: s.url }),
          ),
          [1, 2, 3].map(() => new Purser({ apiKey: 'sk_test', fetch: fake.fetch })),
        ] as [Purser, Purser, Purser][];
        const ids: [string[], string[]] = [[], []];
        for (const { request: body, then } of steps) {
          const [real, faked] = await Promise.all(
            stages.map(async ([asking, reviewer, adapter], i) => {
              const earlier = ids[i] as string[];
              const made = await asking.decisions.create(body);
              await follow(then, made, { asking, reviewer, adapter });
              const later = await asking.decisions.retrieve(made.decision_id);
              const both = [decided(made, earlier), decided(later, earlier)];
              earlier.push(made.decision_id);
              return both;
            }),
          );
          expect(faked).toEqual(real);
          for (const code of real?.[0]?.reason_codes ?? []) seen.add(code);
        }
      },
    ),
    { numRuns: RUNS, interruptAfterTimeLimit: 240_000 },
  );
  // Otherwise nothing was compared.
  expect(seen.size).toBeGreaterThan(4);
});

/** Reviews, reports or consumes a decision, where that may be done. */
async function follow(
  then: string,
  { decision, capability, decision_id, action }: Decision,
  { asking, reviewer, adapter }: Record<'asking' | 'reviewer' | 'adapter', Purser>,
): Promise<void> {
  const { amount_minor, currency, payee_id } = action;
  if ((then === 'allow' || then === 'deny') && decision === 'REVIEW') {
    const body = { action: then === 'allow' ? ('ALLOW' as const) : ('DENY' as const), reason_code: 'OK' };
    await reviewer.decisions.review(decision_id, body);
  } else if (then === 'pay' || then === 'fail') {
    const type = then === 'pay' ? 'SPEND_EXECUTED' : 'SPEND_FAILED';
    const source = then === 'pay' ? 'PAYMENT_RAIL' : 'CLIENT_REPORTED';
    const reporter = then === 'pay' ? adapter : asking;
    await reporter.decisions.reportOutcome(decision_id, { type, amount_minor, source });
  } else if (then === 'consume' && capability?.token !== undefined) {
    const { token, max_amount_minor } = capability;
    const paid = { token, amount_minor: Math.min(amount_minor, max_amount_minor), currency };
    const body = { ...paid, ...(payee_id === undefined ? {} : { payee_id }) };
    await adapter.capabilities.consume(body, { idempotencyKey: decision_id });
  }
}

test.each([
  ['bücher.de'],
  ['xn--bcher-kva.de'],
  ['例え.テスト'],
  ['straße.example'],
  ['пример.испытание'],
  ['xn--80ak6aa92e.com'],
  ['plain.example'],
])('where there is no Node, the name %s is read as Node reads it', (name) => {
  expect(withoutNode.domainToASCII(name)).toBe(domainToASCII(name));
  expect(withoutNode.domainToUnicode(domainToASCII(name))).toBe(domainToUnicode(domainToASCII(name)));
});
