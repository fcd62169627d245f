import { type BudgetCounter, budgetStatus } from './budget.ts';
import { type Capability, type CapabilityStatus, capabilityIdOf } from './capabilities.ts';
import {
  type Decision,
  type DecisionCore,
  type DecisionKind,
  effectiveDecision,
  type OutcomeState,
  type ReviewState,
} from './decisions.ts';
import type { Label } from './labels.ts';
import type { ExpiredReservation, ReservationStatus } from './reservations.ts';
import type { Review } from './reviews.ts';

/**
 * What changes about a decision after it was made. Minor units. It changes only by `apply` in
 * `decision-history.ts`, so that it can be made again from the decision and the records about it.
 */
export interface DecisionState {
  decision_id: string;
  agent_id: string;
  reservation_id: string | null;
  reservation_status: ReservationStatus;
  period: string;
  currency: string;
  /** What is held, or was spent and not given back, or was held when it was let go. */
  amount_minor: number;
  /** When the hold runs out by itself; null: never, or no longer. */
  expires_at: string | null;
  review_state: ReviewState | null;
  review_id: string | null;
  label_id: string | null;
  outcome_state: OutcomeState;
  verified: boolean;
  /** As it was last set; running out is judged whenever it is looked at. */
  capability_status: CapabilityStatus | null;
  capability_issued_at: string | null;
  capability_expires_at: string | null;
  capability_consumed_at: string | null;
}

/** The state of a decision about which nothing changed since it was made. */
export function initialState(made: DecisionCore): DecisionState {
  const { decision_id, reservation, review_state, capability } = made;
  return {
    decision_id,
    agent_id: made.agent.id,
    reservation_id: reservation.reservation_id,
    reservation_status: reservation.status,
    period: reservation.period,
    currency: reservation.currency,
    amount_minor: reservation.amount_minor,
    expires_at: reservation.expires_at,
    review_state,
    review_id: null,
    label_id: null,
    outcome_state: 'NONE',
    verified: false,
    capability_status: capability?.status ?? null,
    capability_issued_at: capability?.issued_at ?? null,
    capability_expires_at: capability?.expires_at ?? null,
    capability_consumed_at: null,
  };
}

/** What a state counts for in its month's budget. */
export function budgetImpact(
  state: Pick<DecisionState, 'reservation_status' | 'amount_minor'>,
): BudgetCounter {
  const { reservation_status, amount_minor } = state;
  return {
    held_minor: reservation_status === 'HELD' ? amount_minor : 0,
    committed_minor: reservation_status === 'COMMITTED' ? amount_minor : 0,
  };
}

/** When the state's hold runs out by itself, or null when there is none that does. */
export function holdExpiresAt(
  state: Pick<DecisionState, 'reservation_status' | 'expires_at'>,
): string | null {
  return state.reservation_status === 'HELD' ? state.expires_at : null;
}

/** Whether a hold has run out by that moment, whoever has or has not swept it yet. */
export function isExpired(
  state: Pick<DecisionState, 'reservation_status' | 'expires_at'>,
  now_ms: number,
): boolean {
  const at = holdExpiresAt(state);
  return at !== null && Date.parse(at) <= now_ms;
}

/** The state after its hold ran out: the money is free, a pending review is nobody's denial. */
export function afterExpiry(state: DecisionState): DecisionState {
  return {
    ...state,
    reservation_status: 'EXPIRED',
    review_state: state.review_state === 'PENDING' ? 'EXPIRED' : state.review_state,
  };
}

/** What is kept of a hold that ran out, as it was when it was let go. ISO UTC. */
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

/** The state at that moment where no record says more: in ENFORCE a pending review runs out at its deadline. */
export function withReviewExpiry(made: DecisionCore, state: DecisionState, now_ms: number): DecisionState {
  const deadline = made.mode === 'ENFORCE' ? made.reservation.expires_at : null;
  if (state.review_state === 'PENDING' && deadline !== null && Date.parse(deadline) <= now_ms) {
    return { ...state, review_state: 'EXPIRED' };
  }
  return state;
}

/**
 * The state at that moment: what has run out by then has, whether or not anyone has written it down. In ENFORCE
 * a pending review runs out even where an outcome has settled the hold.
 */
export function stateAt(made: DecisionCore, kept: DecisionState | null, now_ms: number): DecisionState {
  const state = kept ?? initialState(made);
  return isExpired(state, now_ms) ? afterExpiry(state) : withReviewExpiry(made, state, now_ms);
}

/** What may be spent now: 0 on DENY and until a person allowed a REVIEW; then what was held. */
export function authorizedMinor(made: DecisionCore, state: DecisionState): number {
  if (made.decision !== 'REVIEW') return made.authorized_amount_minor;
  return state.review_state === 'ALLOWED' ? made.reservation.amount_minor : 0;
}

/** What is in force by now. */
export function effectiveNow(made: DecisionCore, state: DecisionState): DecisionKind {
  return effectiveDecision(made.mode, made.decision, state.review_state);
}

/** The decision's capability as it was last set; null where none was issued. Its running out is not judged here. */
export function capabilityOf(made: DecisionCore, state: DecisionState): Capability | null {
  if (state.capability_status === null) return null;
  return {
    capability_id: capabilityIdOf(made.decision_id),
    status: state.capability_status,
    max_amount_minor: made.reservation.amount_minor,
    currency: made.currency,
    merchant: made.action.merchant,
    payee_id: made.action.payee_id ?? null,
    issued_at: state.capability_issued_at as string,
    expires_at: state.capability_expires_at as string,
    consumed_at: state.capability_consumed_at,
  };
}

/**
 * A decision as it stands at that moment: the answer that was given, with everything that changed since (`kept`,
 * null when nothing did). `counter` is the live counter of its agent, month and currency; the limit is that of its
 * own authority. `capability` is as last set: see `capabilityStatusAt`.
 */
export function currentDecision(
  made: Decision,
  kept: DecisionState | null,
  records: { review: Review | null; label: Label | null; counter: BudgetCounter },
  now_ms: number,
): Decision {
  const state = stateAt(made, kept, now_ms);
  const { reservation } = made;
  return {
    ...made,
    effective_decision: effectiveNow(made, state),
    review_state: state.review_state,
    authorized_amount_minor: authorizedMinor(made, state),
    reservation: {
      ...reservation,
      reservation_id: state.reservation_id,
      status: state.reservation_status,
      amount_minor: state.amount_minor,
      expires_at: holdExpiresAt(state),
      budget: budgetStatus(records.counter, reservation.budget.limit_minor),
    },
    capability: capabilityOf(made, state),
    review: records.review,
    label: records.label,
    outcome_state: state.outcome_state,
    verified: state.verified,
  };
}
