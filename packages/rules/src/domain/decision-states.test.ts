import type { Decision } from '@purser/contract/decisions';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Mode } from './agents.ts';
import { apply, type DecisionEvent, issuesCapability } from './decision-history.ts';
import {
  authorizedMinor,
  budgetImpact,
  capabilityOf,
  type DecisionState,
  effectiveNow,
  holdExpiresAt,
  initialState,
  isExpired,
  liveFields,
  stateAt,
} from './decision-states.ts';
import type { DecisionKind } from './decisions.ts';
import type { OutcomeReport, OutcomeType } from './outcomes.ts';

const ID = '01KAJ5F0V8Z3M2Q9X7T4R6N1BD';
const MADE_AT = '2026-11-21T08:00:00.000Z';
const REVIEW_ENDS = '2026-11-22T08:00:00.000Z';
const CAPABILITY_ENDS = '2026-11-21T08:15:00.000Z';
const at = (iso: string) => Date.parse(iso);

/** A decision about 100, as `createDecision` makes it. */
function made(mode: Mode, decision: DecisionKind, payee_id?: string): Decision {
  const enforced = mode === 'ENFORCE';
  const capability =
    enforced && decision === 'ALLOW'
      ? { status: 'ISSUED', issued_at: MADE_AT, expires_at: CAPABILITY_ENDS, consumed_at: null }
      : null;
  const runs_out = decision === 'REVIEW' ? REVIEW_ENDS : payee_id === undefined ? null : CAPABILITY_ENDS;
  return {
    decision_id: `dec_${ID}`,
    decision,
    mode,
    effective_decision: enforced ? decision : 'ALLOW',
    review_state: decision === 'REVIEW' ? 'PENDING' : null,
    authorized_amount_minor: decision === 'ALLOW' ? 100 : 0,
    currency: 'EUR',
    reservation: {
      reservation_id: decision === 'DENY' ? null : `rsv_${ID}`,
      status: decision === 'DENY' ? 'NONE' : 'HELD',
      amount_minor: decision === 'DENY' ? 0 : 100,
      currency: 'EUR',
      period: '2026-11',
      expires_at: enforced && decision !== 'DENY' ? runs_out : null,
      budget: { limit_minor: 500, held_minor: 100, committed_minor: 0, remaining_minor: 400 },
    },
    capability,
    agent: { id: 'agt_1', slug: 'a' },
    action: { merchant: 'Shop', ...(payee_id === undefined ? {} : { payee_id }) },
  } as unknown as Decision;
}

const said = (
  type: OutcomeType,
  amount_minor: number | null,
  source: 'CLIENT_REPORTED' | 'PAYMENT_RAIL' = 'CLIENT_REPORTED',
): OutcomeReport => ({ type, amount_minor, currency: 'EUR', external_reference: null, source });

const review = (action: 'ALLOW' | 'DENY', capability_expires_at: string | null = null) => ({
  review_id: `rev_${ID}`,
  action,
  capability_expires_at,
  created_at: '2026-11-21T09:00:00.000Z',
});

/** A state after something more was recorded at that moment. */
const after = (made: Decision, state: DecisionState, event: DecisionEvent, reports: OutcomeReport[] = []) =>
  apply({ decision: made, state, reports }, event).state;
const afterConsumption = (made: Decision, state: DecisionState, at: string) =>
  after(made, state, { type: 'capability.consumed', at, amount_minor: 100 });
const afterExpiry = (made: Decision, state: DecisionState, at: string) =>
  after(made, state, { type: 'reservation.expired', at });
const afterReview = (made: Decision, state: DecisionState, given: ReturnType<typeof review>) =>
  after(made, state, { type: 'decision.review.recorded', at: given.created_at, review: given });
/** `reports`: all of them, the newest last. */
const afterOutcome = (made: Decision, state: DecisionState, reports: OutcomeReport[]) => {
  const report = reports.at(-1) as OutcomeReport;
  return after(made, state, { type: 'decision.outcome.recorded', at: MADE_AT, report }, reports.slice(0, -1));
};

/** status, held, committed */
const money = (state: DecisionState) => {
  const { held_minor, committed_minor } = budgetImpact(state);
  return [state.reservation_status, held_minor, committed_minor];
};

describe('a fresh decision', () => {
  test.each<[Mode, DecisionKind, string, number]>([
    ['SHADOW', 'ALLOW', 'HELD', 100],
    ['SHADOW', 'REVIEW', 'HELD', 100],
    ['SHADOW', 'DENY', 'NONE', 0],
    ['ENFORCE', 'ALLOW', 'HELD', 100],
    ['ENFORCE', 'REVIEW', 'HELD', 100],
    ['ENFORCE', 'DENY', 'NONE', 0],
  ])('%s %s is %s', (mode, decision, status, held) => {
    expect(money(initialState(made(mode, decision)))).toEqual([status, held, 0]);
  });
});

describe('expiry', () => {
  const pending = made('ENFORCE', 'REVIEW');
  const bound = made('ENFORCE', 'ALLOW', 'stripe:acct_1');

  test('is judged to the millisecond: the deadline itself is too late', () => {
    expect(isExpired(initialState(pending), at(REVIEW_ENDS) - 1)).toBe(false);
    expect(isExpired(initialState(pending), at(REVIEW_ENDS))).toBe(true);
  });
  test('of a pending review releases the money and does not count as a denial', () => {
    const state = stateAt(pending, null, at(REVIEW_ENDS));
    expect(money(state)).toEqual(['EXPIRED', 0, 0]);
    expect([state.review_state, effectiveNow(pending, state), authorizedMinor(pending, state)]).toEqual([
      'EXPIRED',
      'REVIEW',
      0,
    ]);
    expect(holdExpiresAt(state)).toBeNull();
  });
  test('of a capability releases the money only where it is bound to one payee', () => {
    expect(money(stateAt(bound, null, at(CAPABILITY_ENDS)))).toEqual(['EXPIRED', 0, 0]);
    const unbound = made('ENFORCE', 'ALLOW');
    expect(money(stateAt(unbound, null, at('2036-01-01T00:00:00Z')))).toEqual(['HELD', 100, 0]);
  });
  test('never happens in SHADOW', () => {
    for (const decision of ['ALLOW', 'REVIEW'] as const) {
      const shadow = made('SHADOW', decision, 'stripe:acct_1');
      expect(stateAt(shadow, null, at('2036-01-01T00:00:00Z'))).toEqual(initialState(shadow));
    }
  });
  test('never happens to a hold that was consumed or settled', () => {
    const late = at('2036-01-01T00:00:00Z');
    const used = afterConsumption(bound, initialState(bound), MADE_AT);
    expect(money(stateAt(bound, used, late))).toEqual(['HELD', 100, 0]);
    const spent = afterOutcome(bound, initialState(bound), [said('SPEND_EXECUTED', 60)]);
    expect(money(stateAt(bound, spent, late))).toEqual(['COMMITTED', 0, 60]);
  });
  test('of a review also happens where an outcome has settled the hold before', () => {
    const spent = afterOutcome(pending, initialState(pending), [said('SPEND_EXECUTED', 60)]);
    expect(stateAt(pending, spent, at(REVIEW_ENDS) - 1).review_state).toBe('PENDING');
    const later = stateAt(pending, spent, at(REVIEW_ENDS));
    expect([later.review_state, ...money(later)]).toEqual(['EXPIRED', 'COMMITTED', 0, 60]);
  });
});

describe('a review', () => {
  test('DENY releases the hold and ALLOW keeps it, in both modes', () => {
    for (const mode of ['SHADOW', 'ENFORCE'] as const) {
      const pending = made(mode, 'REVIEW');
      const denied = afterReview(pending, initialState(pending), review('DENY'));
      expect([...money(denied), denied.review_state]).toEqual(['RELEASED', 0, 0, 'DENIED']);
      const allowed = afterReview(pending, initialState(pending), review('ALLOW'));
      expect([...money(allowed), allowed.review_state]).toEqual(['HELD', 100, 0, 'ALLOWED']);
      expect(holdExpiresAt(allowed)).toBeNull();
      expect(authorizedMinor(pending, allowed)).toBe(100);
      expect(authorizedMinor(pending, denied)).toBe(0);
      expect(effectiveNow(pending, allowed)).toBe('ALLOW');
      expect(effectiveNow(pending, denied)).toBe(mode === 'ENFORCE' ? 'DENY' : 'ALLOW');
    }
  });
  test('ALLOW issues a capability only in ENFORCE, and only while the money is held', () => {
    const enforced = made('ENFORCE', 'REVIEW');
    expect(issuesCapability(enforced, initialState(enforced), 'ALLOW')).toBe(true);
    expect(issuesCapability(enforced, initialState(enforced), 'DENY')).toBe(false);
    const spent = afterOutcome(enforced, initialState(enforced), [said('SPEND_EXECUTED', 1)]);
    expect(issuesCapability(enforced, spent, 'ALLOW')).toBe(false);
    const shadow = made('SHADOW', 'REVIEW');
    expect(issuesCapability(shadow, initialState(shadow), 'ALLOW')).toBe(false);
  });
  test('ALLOW makes the hold expire with its capability where that is bound to a payee', () => {
    const bound = made('ENFORCE', 'REVIEW', 'stripe:acct_1');
    const allowed = afterReview(bound, initialState(bound), review('ALLOW', CAPABILITY_ENDS));
    expect(holdExpiresAt(allowed)).toBe(CAPABILITY_ENDS);
    expect(capabilityOf(bound, allowed)).toMatchObject({
      capability_id: `cap_${ID}`,
      status: 'ISSUED',
      max_amount_minor: 100,
      payee_id: 'stripe:acct_1',
      expires_at: CAPABILITY_ENDS,
    });
    const unbound = made('ENFORCE', 'REVIEW');
    const free = afterReview(unbound, initialState(unbound), review('ALLOW', CAPABILITY_ENDS));
    expect(holdExpiresAt(free)).toBeNull();
    // A review that was given is not undone by time.
    expect(stateAt(unbound, free, at('2036-01-01T00:00:00Z')).review_state).toBe('ALLOWED');
  });
  test('ALLOW in SHADOW that corrects a denial does not hold the money again', () => {
    const shadow = made('SHADOW', 'REVIEW');
    const denied = afterReview(shadow, initialState(shadow), review('DENY'));
    const allowed = afterReview(shadow, denied, review('ALLOW'));
    expect([...money(allowed), allowed.review_state]).toEqual(['RELEASED', 0, 0, 'ALLOWED']);
  });
});

/** Before, reports; status, held, committed afterwards; what becomes of an issued capability. */
type Settling = [
  name: string,
  mode: Mode,
  decision: DecisionKind,
  consumed: boolean,
  reports: OutcomeReport[],
  after: [string, number, number],
];
const rail = 'PAYMENT_RAIL';
const SETTLINGS: Settling[] = [
  ['all of it', 'SHADOW', 'ALLOW', false, [said('SPEND_EXECUTED', 100)], ['COMMITTED', 0, 100]],
  ['a part of it', 'SHADOW', 'ALLOW', false, [said('SPEND_EXECUTED', 1)], ['COMMITTED', 0, 1]],
  ['more than it', 'SHADOW', 'ALLOW', false, [said('SPEND_EXECUTED', 999)], ['COMMITTED', 0, 999]],
  ['FAILED', 'SHADOW', 'ALLOW', false, [said('SPEND_FAILED', null)], ['RELEASED', 0, 0]],
  ['CANCELLED', 'SHADOW', 'REVIEW', false, [said('SPEND_CANCELLED', null)], ['RELEASED', 0, 0]],
  ['a denial in SHADOW', 'SHADOW', 'DENY', false, [said('SPEND_EXECUTED', 100)], ['NONE', 0, 0]],
  ['a denial in ENFORCE', 'ENFORCE', 'DENY', false, [said('SPEND_EXECUTED', 100)], ['COMMITTED', 0, 100]],
  ['a denial that failed', 'ENFORCE', 'DENY', false, [said('SPEND_FAILED', null)], ['NONE', 0, 0]],
  ['a pending review', 'ENFORCE', 'REVIEW', false, [said('SPEND_EXECUTED', 70)], ['COMMITTED', 0, 70]],
  [
    'a refund in part',
    'SHADOW',
    'ALLOW',
    false,
    [said('SPEND_EXECUTED', 100), said('PARTIALLY_REFUNDED', 30)],
    ['COMMITTED', 0, 70],
  ],
  [
    'a refund of all',
    'SHADOW',
    'ALLOW',
    false,
    [said('SPEND_EXECUTED', 100), said('PARTIALLY_REFUNDED', 30), said('REFUNDED', 70)],
    ['COMMITTED', 0, 0],
  ],
  [
    'a client’s FAILED before use',
    'ENFORCE',
    'ALLOW',
    false,
    [said('SPEND_FAILED', null)],
    ['RELEASED', 0, 0],
  ],
  ['a client’s FAILED after use', 'ENFORCE', 'ALLOW', true, [said('SPEND_FAILED', null)], ['HELD', 100, 0]],
  [
    'a client’s CANCELLED after use',
    'ENFORCE',
    'ALLOW',
    true,
    [said('SPEND_CANCELLED', null)],
    ['HELD', 100, 0],
  ],
  [
    'the rail’s FAILED after use',
    'ENFORCE',
    'ALLOW',
    true,
    [said('SPEND_FAILED', null, rail)],
    ['RELEASED', 0, 0],
  ],
  [
    'the rail confirms the client’s FAILED',
    'ENFORCE',
    'ALLOW',
    true,
    [said('SPEND_FAILED', null), said('SPEND_FAILED', null, rail)],
    ['RELEASED', 0, 0],
  ],
  [
    'the rail executed what the client called failed',
    'ENFORCE',
    'ALLOW',
    true,
    [said('SPEND_FAILED', null), said('SPEND_EXECUTED', 100, rail)],
    ['COMMITTED', 0, 100],
  ],
  [
    'the rail failed what the client called executed',
    'SHADOW',
    'ALLOW',
    false,
    [said('SPEND_EXECUTED', 100), said('SPEND_FAILED', null, rail)],
    ['RELEASED', 0, 0],
  ],
  [
    'the rail spent less than the client said',
    'SHADOW',
    'ALLOW',
    false,
    [said('SPEND_EXECUTED', 100), said('SPEND_EXECUTED', 60, rail)],
    ['COMMITTED', 0, 60],
  ],
];

describe('outcomes settle the money', () => {
  test.each(SETTLINGS)('%s (%s %s, consumed: %s)', (_name, mode, decision, consumed, reports, expected) => {
    const about = made(mode, decision);
    let state = initialState(about);
    if (consumed) state = afterConsumption(about, state, MADE_AT);
    for (let n = 1; n <= reports.length; n++) state = afterOutcome(about, state, reports.slice(0, n));
    expect(money(state)).toEqual(expected);
    expect(holdExpiresAt(state)).toBeNull();
    if (mode === 'ENFORCE' && decision === 'ALLOW') {
      expect(state.capability_status).toBe(consumed ? 'CONSUMED' : 'REVOKED');
    } else expect(state.capability_status).toBeNull();
  });

  test('an execution commits even when it is late: after a denial, an expiry or a release', () => {
    const pending = made('ENFORCE', 'REVIEW');
    const gone = [
      afterReview(pending, initialState(pending), review('DENY')),
      afterExpiry(pending, initialState(pending), REVIEW_ENDS),
      afterOutcome(pending, initialState(pending), [said('SPEND_FAILED', null)]),
    ];
    for (const state of gone) {
      expect(budgetImpact(state)).toEqual({ held_minor: 0, committed_minor: 0 });
      const reports = [said('SPEND_EXECUTED', 80, rail)];
      expect(money(afterOutcome(pending, state, reports))).toEqual(['COMMITTED', 0, 80]);
    }
  });
});

test('whatever happens in whatever order, money is held or committed or neither, and never negative', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('review' as const), action: fc.constantFrom('ALLOW', 'DENY') }),
    fc.record({ do: fc.constant('consume' as const) }),
    fc.record({ do: fc.constant('run out' as const) }),
    fc.record({
      do: fc.constant('outcome' as const),
      type: fc.constantFrom<OutcomeType>('SPEND_EXECUTED', 'SPEND_FAILED', 'SPEND_CANCELLED', 'REFUNDED'),
      amount_minor: fc.integer({ min: 1, max: 200 }),
      source: fc.constantFrom<'CLIENT_REPORTED' | 'PAYMENT_RAIL'>('CLIENT_REPORTED', 'PAYMENT_RAIL'),
    }),
  );
  fc.assert(
    fc.property(
      fc.constantFrom<Mode>('SHADOW', 'ENFORCE'),
      fc.constantFrom<DecisionKind>('ALLOW', 'REVIEW', 'DENY'),
      fc.option(fc.constant('stripe:acct_1'), { nil: undefined }),
      fc.array(step, { maxLength: 8 }),
      (mode, decision, payee, steps) => {
        const about = made(mode, decision, payee);
        let state = initialState(about);
        const reports: OutcomeReport[] = [];
        for (const each of steps) {
          if (each.do === 'review') {
            const action = each.action as 'ALLOW' | 'DENY';
            const ends = issuesCapability(about, state, action) ? CAPABILITY_ENDS : null;
            if (decision === 'REVIEW') state = afterReview(about, state, review(action, ends));
          } else if (each.do === 'consume') {
            if (state.capability_status === 'ISSUED') state = afterConsumption(about, state, MADE_AT);
          } else if (each.do === 'run out') {
            if (holdExpiresAt(state) !== null) state = afterExpiry(about, state, MADE_AT);
          } else {
            const { type, amount_minor, source } = each;
            reports.push(said(type, type.startsWith('SPEND_E') ? amount_minor : null, source));
            if (reports.at(-1)?.type === 'REFUNDED') reports.pop();
            else state = afterOutcome(about, state, reports);
          }
          const { held_minor, committed_minor } = budgetImpact(state);
          expect(Math.min(held_minor, committed_minor)).toBe(0);
          expect(held_minor).toBeLessThanOrEqual(100);
          if (mode === 'SHADOW') {
            expect([state.capability_status, holdExpiresAt(state)]).toEqual([null, null]);
            if (decision === 'DENY') expect(money(state)).toEqual(['NONE', 0, 0]);
          }
          // Whatever runs out by itself can still be paid by nobody else.
          if (holdExpiresAt(state) !== null && state.review_state !== 'PENDING') {
            expect([state.capability_status, about.action.payee_id]).toEqual(['ISSUED', 'stripe:acct_1']);
          }
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('the view of a decision has its present state, and the live counter beside its own limit', () => {
  const bound = made('ENFORCE', 'ALLOW', 'stripe:acct_1');
  const shown = liveFields(
    bound,
    afterOutcome(bound, initialState(bound), [said('SPEND_EXECUTED', 120, rail)]),
    { review: null, approvals: [], label: null, counter: { held_minor: 7, committed_minor: 480 } },
    at(MADE_AT),
  );
  expect(shown).toMatchObject({
    effective_decision: 'ALLOW',
    authorized_amount_minor: 100,
    outcome_state: 'EXECUTED',
    verified: true,
    capability: { status: 'REVOKED' },
    reservation: {
      status: 'COMMITTED',
      amount_minor: 120,
      expires_at: null,
      budget: { limit_minor: 500, held_minor: 7, committed_minor: 480, remaining_minor: 13 },
    },
  });
});
