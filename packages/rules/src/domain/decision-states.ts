import type { Decision, Reservation } from '@purser/contract/decisions';
import type { Capability, Label, Review } from '@purser/contract/records';
import type { ReviewProgress } from '@purser/contract/reviews/progress';
import { type CountedIn, changesIn, encodeCountedIn } from '../counters/counted-in.ts';
import type { CounterRow } from '../counters/counters.ts';
import type { Mode } from './agents.ts';
import { type BudgetCounter, budgetStatus } from './budget.ts';
import { type CapabilityStatus, capabilityIdOf, earlierOf } from './capabilities.ts';
import {
  type DecisionCore,
  type DecisionKind,
  effectiveDecision,
  type OutcomeState,
  type ReviewState,
} from './decisions.ts';
import type { ExpiredReservation, ReservationStatus } from './reservations.ts';

/**
 * The part of a decision that changes after it was made. Minor units. Only `apply` in `decision-history.ts` changes it, so
 * it can be rebuilt from the decision and its records.
 */
export interface DecisionState {
  decision_id: string;
  agent_id: string;
  reservation_id: string | null;
  reservation_status: ReservationStatus;
  period: string;
  currency: string;
  /** The amount held; once committed, the amount spent and not refunded; once released, the amount that was held. */
  amount_minor: number;
  /**
   * When the hold expires; null: never, or no longer. While a review is pending it is the review's deadline too, also where
   * an outcome has settled the hold: only a hold that is HELD expires (`holdExpiresAt`).
   */
  expires_at: string | null;
  review_state: ReviewState | null;
  review_id: string | null;
  /** The approvals so far where more than one is needed, the last one included; 0 everywhere else. */
  approvals: number;
  label_id: string | null;
  outcome_state: OutcomeState;
  verified: boolean;
  /** As last recorded; `capabilityStatusAt` judges whether it has expired since. */
  capability_status: CapabilityStatus | null;
  capability_issued_at: string | null;
  capability_expires_at: string | null;
  capability_consumed_at: string | null;
  /**
   * The slots of counters that it counts in from its making on, as text: see `counterChanges`; null where there are none. Limits
   * that joined later are in the authority (`joinedSlots`).
   */
  counted_in: string | null;
  /** Its amount in limits of pace: as `amount_minor`, but refunds do not lower it. */
  paced_minor: number;
}

/**
 * Returns true if a decision has a stored state from the moment of its making: where its hold expires by itself, and
 * where it waits for a person, so that what waits is found without a look at every decision.
 */
export function needsStateRow(decision: Pick<DecisionCore, 'reservation' | 'review_state'>): boolean {
  return decision.reservation.expires_at !== null || decision.review_state === 'PENDING';
}

/** The slots of counters that a decision counts in from its making on. */
export function countedIn({ limits = [] }: Pick<Reservation, 'limits'>): CountedIn[] {
  return limits.map(({ counter_id, subject, window }) => ({
    counter_id,
    subject: subject ?? '',
    slot: window.starts_at,
    until: window.ends_at,
  }));
}

/** The contribution of a new decision to counters at a time (ISO UTC). */
export function countedByNew(
  {
    decision_id,
    reservation,
  }: { decision_id: string; reservation: Pick<Reservation, 'limits' | 'status' | 'amount_minor'> },
  at: string,
): CounterRow[] {
  const { limits, status: reservation_status, amount_minor } = reservation;
  if (limits === undefined) return [];
  const state = { decision_id, reservation_status, amount_minor, paced_minor: amount_minor };
  return changesIn(countedIn(reservation), null, state, at);
}

/** The state of a decision that was just made. */
export function initialState(decision: DecisionCore): DecisionState {
  const { decision_id, reservation, review_state, capability } = decision;
  const counted_in = encodeCountedIn(countedIn(reservation));
  return {
    decision_id,
    agent_id: decision.agent.id,
    reservation_id: reservation.reservation_id,
    reservation_status: reservation.status,
    period: reservation.period,
    currency: reservation.currency,
    amount_minor: reservation.amount_minor,
    expires_at: reservation.expires_at,
    review_state,
    review_id: null,
    approvals: 0,
    label_id: null,
    outcome_state: 'NONE',
    verified: false,
    capability_status: capability?.status ?? null,
    capability_issued_at: capability?.issued_at ?? null,
    capability_expires_at: capability?.expires_at ?? null,
    capability_consumed_at: null,
    counted_in,
    paced_minor: reservation.amount_minor,
  };
}

/** A state's contribution to its month's budget, in minor units. */
export function budgetImpact(
  state: Pick<DecisionState, 'reservation_status' | 'amount_minor'>,
): BudgetCounter {
  const { reservation_status, amount_minor } = state;
  return {
    held_minor: reservation_status === 'HELD' ? amount_minor : 0,
    committed_minor: reservation_status === 'COMMITTED' ? amount_minor : 0,
  };
}

/**
 * Returns when a new hold expires by itself, or null if it does not. A hold may be released only on evidence that the
 * money did not move. In ENFORCE there is such evidence when nobody reviewed the decision in time, and when a capability
 * that names its payee expired unused. All other holds wait for an outcome.
 */
export function newHoldExpiresAt(
  mode: Mode,
  decision: DecisionKind,
  capability: Capability | null,
  now_ms: number,
  review_ttl_seconds: number,
  /** The earliest expiry of the allowances that the spend counts in: a review ends with it. */
  allowed_until?: string,
): string | null {
  if (mode !== 'ENFORCE') return null;
  if (decision === 'REVIEW')
    return earlierOf(new Date(now_ms + review_ttl_seconds * 1000).toISOString(), allowed_until);
  return capability !== null && capability.payee_id !== null ? capability.expires_at : null;
}

/** When the hold expires; null where there is none, or none that expires. */
export function holdExpiresAt(
  state: Pick<DecisionState, 'reservation_status' | 'expires_at'>,
): string | null {
  return state.reservation_status === 'HELD' ? state.expires_at : null;
}

/** Returns true if the hold has expired by `now_ms`, recorded or not. */
export function isExpired(
  state: Pick<DecisionState, 'reservation_status' | 'expires_at'>,
  now_ms: number,
): boolean {
  const at = holdExpiresAt(state);
  return at !== null && Date.parse(at) <= now_ms;
}

/** The state after its hold expired. A pending review becomes EXPIRED, not DENIED: no person denied it. */
export function afterExpiry(state: DecisionState): DecisionState {
  return {
    ...state,
    reservation_status: 'EXPIRED',
    review_state: state.review_state === 'PENDING' ? 'EXPIRED' : state.review_state,
  };
}

/** The record of an expired hold, as it was when it was released at `let_go_at` (ISO UTC). */
export function expiredReservation(state: DecisionState, let_go_at: string): ExpiredReservation {
  return {
    reservation_id: state.reservation_id as string,
    decision_id: state.decision_id,
    agent_id: state.agent_id,
    amount_minor: state.amount_minor,
    currency: state.currency,
    period: state.period,
    expires_at: state.expires_at as string,
    let_go_at,
  };
}

/** The state at `now_ms` with the review's deadline applied: in ENFORCE a pending review expires at it. */
export function withReviewExpiry(
  decision: DecisionCore,
  state: DecisionState,
  now_ms: number,
): DecisionState {
  const deadline = decision.mode === 'ENFORCE' ? decision.reservation.expires_at : null;
  if (state.review_state === 'PENDING' && deadline !== null && Date.parse(deadline) <= now_ms) {
    return { ...state, review_state: 'EXPIRED' };
  }
  return state;
}

/**
 * The state at `now_ms`, with every expiry applied, recorded or not. In ENFORCE a pending review expires even where an
 * outcome has settled the hold. `stored` null: nothing changed since the decision was made.
 */
export function stateAt(decision: DecisionCore, stored: DecisionState | null, now_ms: number): DecisionState {
  const state = stored ?? initialState(decision);
  return isExpired(state, now_ms) ? afterExpiry(state) : withReviewExpiry(decision, state, now_ms);
}

/**
 * The amount that may be spent now: 0 on DENY; on REVIEW 0 until a person allows it, then the held amount. Minor
 * units.
 */
export function authorizedMinor(decision: DecisionCore, state: DecisionState): number {
  if (decision.decision !== 'REVIEW') return decision.authorized_amount_minor;
  return state.review_state === 'ALLOWED' ? decision.reservation.amount_minor : 0;
}

/** How many people must allow a REVIEW. In SHADOW no tier applies, so one is enough. */
export function requiredApprovals({ review_tier }: Pick<DecisionCore, 'review_tier'>): number {
  return review_tier?.approvals ?? 1;
}

/** When the escalation's approvers of a decision count too (ISO UTC); null: it has none. */
export function escalatesAt({
  review_tier,
  created_at,
}: Pick<DecisionCore, 'review_tier' | 'created_at'>): string | null {
  const after = review_tier?.escalation?.after_seconds;
  return after === undefined ? null : new Date(Date.parse(created_at) + after * 1000).toISOString();
}

/** The approvals of a REVIEW as a read decision shows them; `approvals` are the reviews that count, oldest first. */
export function reviewProgress(
  decision: Pick<DecisionCore, 'review_tier' | 'created_at'>,
  approvals: readonly Pick<Review, 'review_id' | 'principal_id' | 'signature'>[],
): ReviewProgress {
  return {
    required: requiredApprovals(decision),
    given: approvals.map(({ review_id, principal_id, signature }) => ({
      review_id,
      principal_id,
      signed: signature !== undefined,
    })),
    escalates_at: escalatesAt(decision),
  };
}

/** The effective decision in this state. */
export function effectiveNow(decision: DecisionCore, state: DecisionState): DecisionKind {
  return effectiveDecision(decision.mode, decision.decision, state.review_state);
}

/** The decision's capability as last recorded; null where none was issued. `capabilityStatusAt` judges its expiry. */
export function capabilityOf(decision: DecisionCore, state: DecisionState): Capability | null {
  if (state.capability_status === null) return null;
  return {
    capability_id: capabilityIdOf(decision.decision_id),
    status: state.capability_status,
    max_amount_minor: decision.reservation.amount_minor,
    currency: decision.currency,
    merchant: decision.action.merchant,
    payee_id: decision.action.payee_id ?? null,
    issued_at: state.capability_issued_at as string,
    expires_at: state.capability_expires_at as string,
    consumed_at: state.capability_consumed_at,
  };
}

/** The fields of a decision that change after it was made. */
export type LiveFields = Pick<
  Decision,
  | 'effective_decision'
  | 'review_state'
  | 'authorized_amount_minor'
  | 'reservation'
  | 'capability'
  | 'review'
  | 'review_progress'
  | 'label'
  | 'outcome_state'
  | 'verified'
>;

/**
 * The fields of a decision that change, at `now_ms`. `stored` is its state; null when nothing changed. `counter` is the live
 * counter of its agent, month and currency; the limit is that of its own authority. `capability` is as last recorded: see
 * `capabilityStatusAt`. The view of the decision is its original answer with these in their places.
 */
export function liveFields(
  decision: DecisionCore,
  stored: DecisionState | null,
  records: {
    review: Review | null;
    approvals: readonly Review[];
    label: Label | null;
    counter: BudgetCounter;
  },
  now_ms: number,
): LiveFields {
  const state = stateAt(decision, stored, now_ms);
  const { reservation } = decision;
  return {
    effective_decision: effectiveNow(decision, state),
    review_state: state.review_state,
    authorized_amount_minor: authorizedMinor(decision, state),
    reservation: {
      ...reservation,
      reservation_id: state.reservation_id,
      status: state.reservation_status,
      amount_minor: state.amount_minor,
      expires_at: holdExpiresAt(state),
      budget: budgetStatus(records.counter, reservation.budget.limit_minor),
    },
    capability: capabilityOf(decision, state),
    review: records.review,
    ...(decision.decision === 'REVIEW'
      ? { review_progress: reviewProgress(decision, records.approvals) }
      : {}),
    label: records.label,
    outcome_state: state.outcome_state,
    verified: state.verified,
  };
}
