import type { Label } from '@purser/contract/records';
import {
  afterExpiry,
  authorizedMinor,
  budgetImpact,
  type DecisionState,
  effectiveNow,
  initialState,
  requiredApprovals,
  withReviewExpiry,
} from './decision-states.ts';
import type { DecisionCore } from './decisions.ts';
import { type OutcomeFlag, type OutcomeReport, type OutcomeType, summarizeOutcomes } from './outcomes.ts';
import { reservationIdOf } from './reservations.ts';
import type { ReviewAction, ReviewRow } from './reviews.ts';
import { isAtLeast, reportsOfAtLeast, type TrustLevel, trustOfReport } from './trust.ts';

/** A later ledger record of a decision, by the type of its event. */
export type DecisionEvent = {
  /** When it was recorded. ISO UTC. */
  at: string;
} & (
  | {
      type: 'decision.review.recorded';
      review: Pick<ReviewRow, 'review_id' | 'action' | 'capability_expires_at'>;
    }
  | {
      type: 'decision.label.recorded';
      label: Pick<Label, 'label_id' | 'label'>;
    }
  | { type: 'decision.outcome.recorded'; report: OutcomeReport }
  | { type: 'capability.consumed'; amount_minor: number }
  | { type: 'reservation.expired' }
);

/**
 * An event of a decision with its place in the workspace's ledger. `place` is the last 26 characters of the id of its
 * record, or of its ledger event: the lane assigns all ids in the order of `seq`, so places sort as `seq` does.
 */
export interface PlacedEvent {
  decision_id: string;
  place: string;
  event: DecisionEvent;
}

type EventOf<T extends DecisionEvent['type']> = Extract<DecisionEvent, { type: T }>;

/** A decision and the result of its recorded events. `reports` are in the order of the ledger. */
export interface DecisionHistory {
  readonly decision: DecisionCore;
  readonly state: DecisionState;
  readonly reports: readonly OutcomeReport[];
}

/** The history of a decision without recorded events. */
export function beginHistory(decision: DecisionCore): DecisionHistory {
  return { decision, state: initialState(decision), reports: [] };
}

/** The trust level of an event. An expiry ranks lowest: time alone takes back no more than what the agent asked for. */
function trustOfEvent(event: DecisionEvent): TrustLevel {
  switch (event.type) {
    case 'decision.review.recorded':
    case 'decision.label.recorded':
      return 'PERSON';
    case 'decision.outcome.recorded':
      return trustOfReport(event.report);
    case 'capability.consumed':
      return 'RAIL';
    case 'reservation.expired':
      return 'AGENT';
  }
}

/**
 * The trust level that made a decision's money count: the agent's, who asked for it, or the rail's once the capability was
 * consumed. Only an event of at least this level may lower what counts.
 */
function trustOfHold(state: Pick<DecisionState, 'capability_status'>): TrustLevel {
  return state.capability_status === 'CONSUMED' ? 'RAIL' : 'AGENT';
}

/**
 * Applies an event to a decision's history. It is the one rule by which the lane, verification, simulation, the report and
 * the feedback determine the state of a decision. Every event must be applied, in the order of `seq`. Pure; minor
 * units. Throws RangeError where the event's time is not a timestamp.
 */
export function apply(history: DecisionHistory, event: DecisionEvent): DecisionHistory {
  const { decision } = history;
  const state = withReviewExpiry(decision, history.state, timeOf(event));
  switch (event.type) {
    case 'decision.review.recorded':
      return { ...history, state: afterReview(decision, state, event) };
    case 'decision.label.recorded':
      return { ...history, state: { ...state, label_id: event.label.label_id } };
    case 'decision.outcome.recorded': {
      const reports = [...history.reports, event.report];
      return { decision, state: afterReport(decision, state, event, reports), reports };
    }
    case 'capability.consumed':
      return { ...history, state: afterConsumption(decision, state, event) };
    case 'reservation.expired':
      return { ...history, state: mayLower(event, state) ? afterExpiry(state) : state };
  }
}

/** The history of a decision after all its events, which come in the order of the ledger. */
export function foldHistory(decision: DecisionCore, events: readonly DecisionEvent[]): DecisionHistory {
  return events.reduce(apply, beginHistory(decision));
}

/** Returns true if this review settles the decision: a DENY, or the last ALLOW that its tier needs. */
export function completesReview(
  decision: Pick<DecisionCore, 'review_tier'>,
  { approvals }: Pick<DecisionState, 'approvals'>,
  action: ReviewAction,
): boolean {
  return action === 'DENY' || approvals + 1 >= requiredApprovals(decision);
}

/**
 * Returns true if this review issues a capability: the last ALLOW that is needed in ENFORCE does, unless the spend was
 * settled meanwhile.
 */
export function issuesCapability(
  decision: DecisionCore,
  state: DecisionState,
  action: ReviewAction,
): boolean {
  return (
    action === 'ALLOW' &&
    decision.mode === 'ENFORCE' &&
    state.reservation_status === 'HELD' &&
    completesReview(decision, state, action)
  );
}

/** Returns the flags of an execution by the state of its decision before it; none for any other report. */
export function flagsOfExecution(
  decision: DecisionCore,
  state: DecisionState,
  type: OutcomeType,
  amount_minor: number | null,
): OutcomeFlag[] {
  if (type !== 'SPEND_EXECUTED') return [];
  const flags: OutcomeFlag[] = [];
  if ((amount_minor as number) > authorizedMinor(decision, state)) flags.push('OVER_AUTHORIZED');
  if (decision.mode === 'ENFORCE' && effectiveNow(decision, state) !== 'ALLOW')
    flags.push('UNAUTHORIZED_EXECUTION');
  if (state.reservation_status === 'RELEASED' || state.reservation_status === 'EXPIRED') flags.push('LATE');
  return flags;
}

function timeOf(event: DecisionEvent): number {
  const at_ms = Date.parse(event.at);
  if (Number.isNaN(at_ms)) throw new RangeError(`The time of ${event.type} is invalid: ${event.at}`);
  return at_ms;
}

/** Returns true if an event may lower what the decision counts. */
function mayLower(event: DecisionEvent, state: DecisionState): boolean {
  return isAtLeast(trustOfEvent(event), trustOfHold(state));
}

/**
 * DENY releases the hold. An ALLOW before the last one that is needed only counts. Where the last one issues a capability that
 * is bound to a payee, the hold expires with it.
 */
function afterReview(
  decision: DecisionCore,
  state: DecisionState,
  event: EventOf<'decision.review.recorded'>,
): DecisionState {
  const { review_id, action, capability_expires_at } = event.review;
  if (action === 'DENY') {
    const releases = state.reservation_status === 'HELD' && mayLower(event, state);
    return {
      ...state,
      review_id,
      review_state: 'DENIED',
      reservation_status: releases ? 'RELEASED' : state.reservation_status,
      expires_at: null,
    };
  }
  const approvals = requiredApprovals(decision) === 1 ? 0 : state.approvals + 1;
  if (!completesReview(decision, state, action)) return { ...state, approvals };
  const allowed: DecisionState = {
    ...state,
    approvals,
    review_id,
    review_state: 'ALLOWED',
    expires_at: null,
  };
  if (capability_expires_at === null) return allowed;
  return {
    ...allowed,
    expires_at: decision.action.payee_id === undefined ? null : capability_expires_at,
    capability_status: 'ISSUED',
    capability_issued_at: event.at,
    capability_expires_at,
  };
}

/** A decision's amount in its month, held or committed. */
function countedMinor(state: DecisionState): number {
  const { held_minor, committed_minor } = budgetImpact(state);
  return held_minor + committed_minor;
}

/** The payment is under way: the hold no longer expires and covers at least the amount consumed, until the rail reports. */
function afterConsumption(
  decision: DecisionCore,
  state: DecisionState,
  event: EventOf<'capability.consumed'>,
): DecisionState {
  const consumed: DecisionState = {
    ...state,
    capability_status: 'CONSUMED',
    capability_consumed_at: event.at,
    expires_at: null,
  };
  if (countedMinor(state) >= event.amount_minor) return consumed;
  return {
    ...consumed,
    reservation_id: reservationIdOf(decision.decision_id),
    reservation_status: state.reservation_status === 'COMMITTED' ? 'COMMITTED' : 'HELD',
    amount_minor: event.amount_minor,
    paced_minor: Math.max(state.paced_minor, event.amount_minor),
  };
}

/**
 * Commits the executed amount, even if it is late or over the limit. The hold is released when the spend failed or
 * was cancelled. A report that may not lower what counts can only raise it, to the amount that it claims was
 * executed. A DENY in SHADOW counts for nothing. An unconsumed capability is revoked, so that it cannot pay a second
 * time.
 */
function afterReport(
  decision: DecisionCore,
  state: DecisionState,
  event: EventOf<'decision.outcome.recorded'>,
  reports: readonly OutcomeReport[],
): DecisionState {
  const { outcome_state, verified, executed_minor } = summarizeOutcomes(reports);
  const after: DecisionState = {
    ...state,
    outcome_state,
    verified,
    capability_status: state.capability_status === 'ISSUED' ? 'REVOKED' : state.capability_status,
  };
  if (decision.mode === 'SHADOW' && decision.decision === 'DENY') return after;
  // A hold that is settled expires no more; the deadline of a review that still waits stays known.
  const expires_at = state.review_state === 'PENDING' ? state.expires_at : null;
  const commit = (amount_minor: number, paced_minor: number): DecisionState => ({
    ...after,
    reservation_id: reservationIdOf(decision.decision_id),
    reservation_status: 'COMMITTED',
    amount_minor,
    paced_minor,
    expires_at,
  });
  if (!mayLower(event, state)) {
    const is_claim = event.report.type === 'SPEND_EXECUTED';
    if (!is_claim) return after;
    const claimed_minor = Math.max(countedMinor(state), executed_minor);
    return commit(claimed_minor, Math.max(state.paced_minor, claimed_minor));
  }
  const trusted = summarizeOutcomes(reportsOfAtLeast(trustOfHold(state), reports));
  switch (trusted.outcome_state) {
    case 'NONE':
      return after;
    case 'FAILED':
    case 'CANCELLED': {
      const counts = state.reservation_status === 'HELD' || state.reservation_status === 'COMMITTED';
      return counts ? { ...after, reservation_status: 'RELEASED', expires_at } : after;
    }
    default:
      return commit(trusted.executed_minor - trusted.refunded_minor, trusted.executed_minor);
  }
}
