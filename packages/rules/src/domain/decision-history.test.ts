import { OUTCOME_SOURCES, OUTCOME_TYPES } from '@purser/contract/values/decisions';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { remainingMinor } from './budget.ts';
import { apply, beginHistory, type DecisionEvent, type DecisionHistory } from './decision-history.ts';
import { budgetImpact } from './decision-states.ts';
import type { DecisionCore, DecisionKind } from './decisions.ts';
import { judgeOutcome, type OutcomeReport } from './outcomes.ts';

const AT = '2026-11-21T08:00:00.000Z';
const CAPABILITY_ENDS = '2026-11-21T08:15:00.000Z';
const REVIEW_ENDS = '2026-11-22T08:00:00.000Z';

/** A decision in ENFORCE, as `createDecision` makes it. */
function made(decision: DecisionKind, amount_minor: number, id = '01KAJ5F0V8Z3M2Q9X7T4R6N1BD'): DecisionCore {
  const holds = decision !== 'DENY';
  return {
    decision_id: `dec_${id}`,
    decision,
    mode: 'ENFORCE',
    review_state: decision === 'REVIEW' ? 'PENDING' : null,
    authorized_amount_minor: decision === 'ALLOW' ? amount_minor : 0,
    currency: 'EUR',
    reservation: {
      reservation_id: holds ? `rsv_${id}` : null,
      status: holds ? 'HELD' : 'NONE',
      amount_minor: holds ? amount_minor : 0,
      currency: 'EUR',
      period: '2026-11',
      expires_at: !holds ? null : decision === 'REVIEW' ? REVIEW_ENDS : CAPABILITY_ENDS,
      budget: { limit_minor: null, held_minor: 0, committed_minor: 0, remaining_minor: null },
    },
    capability:
      decision === 'ALLOW'
        ? { status: 'ISSUED', issued_at: AT, expires_at: CAPABILITY_ENDS, consumed_at: null }
        : null,
    agent: { id: 'agt_1', slug: 'a' },
    action: { type: 'purchase', merchant: 'Shop', amount_minor, currency: 'EUR', payee_id: 'stripe:acct_1' },
  } as DecisionCore;
}

const counted = ({ state }: DecisionHistory) => {
  const { held_minor, committed_minor } = budgetImpact(state);
  return held_minor + committed_minor;
};
const reported = (report: OutcomeReport): DecisionEvent => ({
  type: 'decision.outcome.recorded',
  at: AT,
  report,
});
const consumed = (amount_minor: number): DecisionEvent => ({
  type: 'capability.consumed',
  at: AT,
  amount_minor,
});

const anyReport = (most: number, source: fc.Arbitrary<OutcomeReport['source']>) =>
  fc.record({
    type: fc.constantFrom(...OUTCOME_TYPES),
    amount_minor: fc.integer({ min: 1, max: most }),
    currency: fc.constant('EUR'),
    external_reference: fc.constantFrom(null, 'a', 'b'),
    source,
  });
const anySource = fc.constantFrom(...OUTCOME_SOURCES);
const anyEvent: fc.Arbitrary<DecisionEvent> = fc.oneof(
  { weight: 5, arbitrary: anyReport(300, anySource).map(reported) },
  { weight: 1, arbitrary: fc.constant<DecisionEvent>({ type: 'reservation.expired', at: AT }) },
  {
    weight: 1,
    arbitrary: fc.constant<DecisionEvent>({
      type: 'decision.label.recorded',
      at: '2026-12-01T00:00:00.000Z',
      label: { label_id: 'lbl_1', label: 'PURPOSE_ALIGNED' },
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<'ALLOW' | 'DENY'>('ALLOW', 'DENY').map((action) => ({
      type: 'decision.review.recorded' as const,
      at: AT,
      review: { review_id: 'rev_1', action, capability_expires_at: null },
    })),
  },
);

describe('once a capability was consumed', () => {
  test('at least the amount consumed counts until the rail reports, whatever else is recorded in whatever order', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<DecisionKind>('ALLOW', 'REVIEW', 'DENY'),
        fc.array(anyEvent, { maxLength: 4 }),
        fc.integer({ min: 1, max: 100 }),
        fc.array(anyEvent, { maxLength: 8 }),
        (decision, before, amount, after) => {
          const untold = (event: DecisionEvent) =>
            event.type !== 'decision.outcome.recorded' || event.report.source !== 'PAYMENT_RAIL';
          let history = [...before.filter(untold), consumed(amount)].reduce(
            apply,
            beginHistory(made(decision, 100)),
          );
          for (const event of after.filter(untold)) {
            const was = counted(history);
            history = apply(history, event);
            expect(counted(history)).toBeGreaterThanOrEqual(Math.max(was, amount));
            expect(history.state.verified).toBe(false);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('only a report of the rail ever lowers what counts', () => {
    fc.assert(
      fc.property(
        fc.array(anyEvent, { maxLength: 6 }),
        fc.integer({ min: 1, max: 100 }),
        fc.array(anyEvent, { maxLength: 10 }),
        (before, amount, after) => {
          let history = [...before, consumed(amount)].reduce(apply, beginHistory(made('ALLOW', 100)));
          for (const event of after) {
            const was = counted(history);
            history = apply(history, event);
            const by_rail =
              event.type === 'decision.outcome.recorded' && event.report.source === 'PAYMENT_RAIL';
            if (!by_rail) expect(counted(history)).toBeGreaterThanOrEqual(was);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('what the rail executed counts, less what it refunded, and no label or review changes that', () => {
    const steps: [DecisionEvent, counts: number, state: string, verified: boolean][] = [
      [consumed(90), 100, 'NONE', false],
      [reported(said('SPEND_EXECUTED', 1, 'CLIENT_REPORTED')), 100, 'EXECUTED', false],
      [reported(said('REFUNDED', 1, 'CLIENT_REPORTED')), 100, 'REFUNDED', false],
      [reported(said('SPEND_EXECUTED', 80, 'PAYMENT_RAIL')), 80, 'PARTIALLY_REFUNDED', false],
      [reported(said('PARTIALLY_REFUNDED', 30, 'PAYMENT_RAIL')), 50, 'PARTIALLY_REFUNDED', false],
      [reported(said('REFUNDED', 50, 'PAYMENT_RAIL')), 0, 'REFUNDED', false],
      [reported(said('SPEND_EXECUTED', 95, 'PAYMENT_RAIL')), 15, 'PARTIALLY_REFUNDED', false],
    ];
    let history = beginHistory(made('ALLOW', 100));
    for (const [event, counts, outcome_state, verified] of steps) {
      history = apply(history, event);
      expect([counted(history), history.state.outcome_state, history.state.verified]).toEqual([
        counts,
        outcome_state,
        verified,
      ]);
    }
  });
});

const said = (
  type: OutcomeReport['type'],
  amount_minor: number | null,
  source: OutcomeReport['source'],
): OutcomeReport => ({ type, amount_minor, currency: 'EUR', external_reference: null, source });

/** Attempts of an agent to exceed its month, and the rail's truthful reports. */
const anyMove = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('spend' as const), amount: fc.constantFrom(1_000, 5_000, 9_000) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('consume' as const),
      which: fc.nat(2),
      share: fc.integer({ min: 1, max: 100 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      which: fc.nat(2),
      report: anyReport(10_000, fc.constant('CLIENT_REPORTED' as const)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('rail' as const),
      which: fc.nat(2),
      type: fc.constantFrom(...OUTCOME_TYPES),
      share: fc.integer({ min: 1, max: 100 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('expire' as const), which: fc.nat(2) }) },
);

test('on a budget of 10,000 no more than 10,000 is really paid through capabilities, whatever is reported', () => {
  const LIMIT = 10_000;
  fc.assert(
    fc.property(fc.array(anyMove, { minLength: 5, maxLength: 60 }), (moves) => {
      const all: { history: DecisionHistory; consumed: number; executed: number; paid: number }[] = [];
      const counter = () => {
        const sums = all.map(({ history }) => budgetImpact(history.state));
        return {
          held_minor: sums.reduce((sum, each) => sum + each.held_minor, 0),
          committed_minor: sums.reduce((sum, each) => sum + each.committed_minor, 0),
        };
      };
      for (const move of moves) {
        if (move.do === 'spend') {
          const kind = move.amount <= remainingMinor(counter(), LIMIT) ? 'ALLOW' : 'DENY';
          const id = String(all.length).padStart(26, '0');
          all.push({ history: beginHistory(made(kind, move.amount, id)), consumed: 0, executed: 0, paid: 0 });
          continue;
        }
        const one = all[all.length - 1 - (move.which % Math.max(1, all.length))];
        if (one === undefined) continue;
        const { state, reports } = one.history;
        if (move.do === 'consume') {
          if (state.capability_status !== 'ISSUED' || state.reservation_status !== 'HELD') continue;
          one.consumed = Math.ceil((one.history.decision.reservation.amount_minor * move.share) / 100);
          one.paid = one.consumed;
          one.history = apply(one.history, consumed(one.consumed));
        } else if (move.do === 'expire') {
          if (state.reservation_status !== 'HELD' || state.expires_at === null) continue;
          one.history = apply(
            { ...one.history, state: { ...state, capability_status: 'EXPIRED' } },
            {
              type: 'reservation.expired',
              at: AT,
            },
          );
        } else {
          // The rail tells what became of the payment: no more than was consumed was executed.
          const amount_minor = move.do === 'rail' ? Math.ceil((one.consumed * move.share) / 100) : 0;
          if (move.do === 'rail' && one.consumed === 0) continue;
          const report = move.do === 'claim' ? move.report : said(move.type, amount_minor, 'PAYMENT_RAIL');
          const judged = judgeOutcome(reports, report);
          if (!judged.ok) continue;
          const { amount_minor: recorded } = judged;
          one.history = apply(one.history, reported({ ...report, amount_minor: recorded }));
          if (move.do === 'claim') continue;
          if (move.type === 'SPEND_EXECUTED') {
            // The first report tells what was paid of what was consumed; a further one what was captured since.
            one.paid =
              one.executed === 0 ? (recorded as number) : one.paid + (recorded as number) - one.executed;
            one.executed = recorded as number;
          } else if (move.type.endsWith('REFUNDED')) one.paid -= recorded as number;
          else one.paid = 0;
        }
        expect(all.reduce((sum, { paid }) => sum + paid, 0)).toBeLessThanOrEqual(LIMIT);
      }
    }),
    { numRuns: 1_000 },
  );
});
