import type { Decision } from '@purser/contract/decisions';
import type { CountedLimit } from '@purser/contract/limit-standing';
import type { BudgetCounter } from '@purser/rules/domain/budget';
import {
  apply,
  beginHistory,
  type DecisionEvent,
  type DecisionHistory,
} from '@purser/rules/domain/decision-history';
import { budgetImpact, isExpired } from '@purser/rules/domain/decision-states';
import { reservationIdOf } from '@purser/rules/domain/reservations';
import type { Verdict } from '@purser/rules/policy/decide';

/** A decision for which the draft holds another amount, or counts in limits over time: its real history, and the draft's. */
export interface Diverged {
  real: DecisionHistory;
  /** Null if the draft denies it, so that nothing would have been spent. */
  drafted: DecisionHistory | null;
  /** The most that would have been spent, where the draft holds less than was held. */
  max_minor: number;
}

export const NOTHING: BudgetCounter = { held_minor: 0, committed_minor: 0 };

/** How a draft's verdict differs; null if the draft holds what was held, and counts in no limit over time: `limits` undefined. */
export function divergence(
  original: Decision,
  verdict: Verdict,
  limits: CountedLimit[] | undefined,
): Diverged | null {
  const was_minor = original.reservation.amount_minor;
  const { decision, held_amount_minor } = verdict;
  const real = beginHistory(original);
  if (decision === original.decision && held_amount_minor === was_minor) {
    if (limits === undefined) return null;
    const drafted = { ...original, reservation: { ...original.reservation, limits } };
    return { real, drafted: beginHistory(drafted), max_minor: Number.MAX_SAFE_INTEGER };
  }
  if (decision === 'DENY') return { real, drafted: null, max_minor: 0 };
  const drafted: Decision = {
    ...original,
    decision,
    review_state: decision === 'REVIEW' ? 'PENDING' : null,
    reservation: {
      ...original.reservation,
      ...(limits === undefined ? {} : { limits }),
      reservation_id: reservationIdOf(original.decision_id),
      status: 'HELD',
      amount_minor: held_amount_minor,
    },
  };
  const max_minor = was_minor > held_amount_minor ? held_amount_minor : Number.MAX_SAFE_INTEGER;
  return { real, drafted: beginHistory(drafted), max_minor };
}

/** A diverged decision after an event that really happened to it. */
export function divergedAfter(before: Diverged, event: DecisionEvent): Diverged {
  return { ...before, real: apply(before.real, event), drafted: applyToDraft(before, event) };
}

function applyToDraft({ drafted, real }: Diverged, event: DecisionEvent): DecisionHistory | null {
  if (drafted === null) return null;
  // Under the draft there may have been no review.
  if (event.type === 'decision.review.recorded' && drafted.decision.decision !== 'REVIEW') return drafted;
  if (event.type === 'reservation.expired') {
    const expires =
      drafted.decision.decision === real.decision.decision && isExpired(drafted.state, Date.parse(event.at));
    if (!expires) return drafted;
  }
  return apply(drafted, event);
}

/** How much more of a decision counts under the draft than really did; negative if less. */
export function surplusOf({ real, drafted, max_minor }: Diverged): BudgetCounter {
  const was = budgetImpact(real.state);
  const is = drafted === null ? NOTHING : budgetImpact(drafted.state);
  return {
    held_minor: Math.min(is.held_minor, max_minor) - was.held_minor,
    committed_minor: Math.min(is.committed_minor, max_minor) - was.committed_minor,
  };
}
