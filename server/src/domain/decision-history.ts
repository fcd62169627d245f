import {
  afterExpiry,
  budgetImpact,
  type DecisionState,
  initialState,
  withReviewExpiry,
} from './decision-states.ts';
import type { DecisionCore } from './decisions.ts';
import type { Label } from './labels.ts';
import { type OutcomeReport, summarizeOutcomes } from './outcomes.ts';
import { reservationIdOf } from './reservations.ts';
import type { ReviewAction, ReviewRow } from './reviews.ts';
import { isAtLeast, reportsOfAtLeast, type TrustLevel, trustOfReport } from './trust.ts';

/** Something that the ledger recorded of a decision after it was made, under the type of its ledger event. */
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
 * An event of a decision with its place among all events of the workspace: the last 26 characters of the id of its record,
 * or of its ledger event. The lane gives ids in the order of `seq`, whatever they name, so places ascend as `seq` does.
 */
export interface PlacedEvent {
  decision_id: string;
  place: string;
  event: DecisionEvent;
}

type EventOf<T extends DecisionEvent['type']> = Extract<DecisionEvent, { type: T }>;

/** A decision with all that its recorded events made of it. `reports` are in the order of the ledger. */
export interface DecisionHistory {
  readonly made: DecisionCore;
  readonly state: DecisionState;
  readonly reports: readonly OutcomeReport[];
}

/** A decision about which nothing was recorded since it was made. */
export function beginHistory(made: DecisionCore): DecisionHistory {
  return { made, state: initialState(made), reports: [] };
}

/** Whose word an event is. A hold that ran out is nobody's word: time alone can take back what the agent asked for. */
export function trustOfEvent(event: DecisionEvent): TrustLevel {
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
 * On whose word the decision's money counts: the agent asked for it, and whoever consumed its capability said that it is
 * being paid. Only a word of at least this level may lower what counts.
 */
export function trustOfHold(state: Pick<DecisionState, 'capability_status'>): TrustLevel {
  return state.capability_status === 'CONSUMED' ? 'RAIL' : 'AGENT';
}

/**
 * What a decision is after an event: the one rule by which the lane, verification, simulation, the report and learning
 * tell what is true of a decision. Events must come in the order of their `seq` in the ledger, none left out. Pure;
 * minor units. Throws RangeError where the event's time is none.
 */
export function apply(history: DecisionHistory, event: DecisionEvent): DecisionHistory {
  const { made } = history;
  const state = withReviewExpiry(made, history.state, timeOf(event));
  switch (event.type) {
    case 'decision.review.recorded':
      return { ...history, state: afterReview(made, state, event) };
    case 'decision.label.recorded':
      return { ...history, state: { ...state, label_id: event.label.label_id } };
    case 'decision.outcome.recorded': {
      const reports = [...history.reports, event.report];
      return { made, state: afterReport(made, state, event, reports), reports };
    }
    case 'capability.consumed':
      return { ...history, state: afterConsumption(made, state, event) };
    case 'reservation.expired':
      return { ...history, state: mayLower(event, state) ? afterExpiry(state) : state };
  }
}

/** What all events make of a decision, in the order of the ledger. */
export function foldHistory(made: DecisionCore, events: readonly DecisionEvent[]): DecisionHistory {
  return events.reduce(apply, beginHistory(made));
}

/** Whether a review's ALLOW issues a capability: in ENFORCE, unless the spend was settled meanwhile. */
export function issuesCapability(made: DecisionCore, state: DecisionState, action: ReviewAction): boolean {
  return action === 'ALLOW' && made.mode === 'ENFORCE' && state.reservation_status === 'HELD';
}

function timeOf(event: DecisionEvent): number {
  const at_ms = Date.parse(event.at);
  if (Number.isNaN(at_ms)) throw new RangeError(`The time of ${event.type} is none: ${event.at}`);
  return at_ms;
}

/** Whether an event may lower what the decision counts. */
function mayLower(event: DecisionEvent, state: DecisionState): boolean {
  return isAtLeast(trustOfEvent(event), trustOfHold(state));
}

/** DENY lets the hold go; where ALLOW issues a capability that only one payee can be paid with, the hold expires with it. */
function afterReview(
  made: DecisionCore,
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
  const allowed: DecisionState = { ...state, review_id, review_state: 'ALLOWED', expires_at: null };
  if (capability_expires_at === null) return allowed;
  return {
    ...allowed,
    expires_at: made.action.payee_id === undefined ? null : capability_expires_at,
    capability_status: 'ISSUED',
    capability_issued_at: event.at,
    capability_expires_at,
  };
}

/** What a decision counts in its month, held or committed. */
function countedMinor(state: DecisionState): number {
  const { held_minor, committed_minor } = budgetImpact(state);
  return held_minor + committed_minor;
}

/** The money is on its way: the hold stays whole, and at least what was consumed counts, until the rail says what became of it. */
function afterConsumption(
  made: DecisionCore,
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
    reservation_id: reservationIdOf(made.decision_id),
    reservation_status: state.reservation_status === 'COMMITTED' ? 'COMMITTED' : 'HELD',
    amount_minor: event.amount_minor,
  };
}

/**
 * What was executed is committed, even late and over the limit; a hold is let go when the spend failed or was cancelled. A
 * report that may not lower what counts leaves it, or raises it to what it claims to be executed. A DENY in SHADOW counts
 * nothing. A settled spend's unconsumed capability is revoked: it must not pay a second time.
 */
function afterReport(
  made: DecisionCore,
  state: DecisionState,
  event: EventOf<'decision.outcome.recorded'>,
  reports: readonly OutcomeReport[],
): DecisionState {
  const told = summarizeOutcomes(reports);
  const { outcome_state, verified } = told;
  const after: DecisionState = {
    ...state,
    outcome_state,
    verified,
    capability_status: state.capability_status === 'ISSUED' ? 'REVOKED' : state.capability_status,
  };
  if (made.mode === 'SHADOW' && made.decision === 'DENY') return after;
  const commit = (amount_minor: number): DecisionState => ({
    ...after,
    reservation_id: reservationIdOf(made.decision_id),
    reservation_status: 'COMMITTED',
    amount_minor,
    expires_at: null,
  });
  if (!mayLower(event, state)) {
    const is_claim = event.report.type === 'SPEND_EXECUTED';
    return is_claim ? commit(Math.max(countedMinor(state), told.executed_minor)) : after;
  }
  const trusted = summarizeOutcomes(reportsOfAtLeast(trustOfHold(state), reports));
  switch (trusted.outcome_state) {
    case 'NONE':
      return after;
    case 'FAILED':
    case 'CANCELLED': {
      const counts = state.reservation_status === 'HELD' || state.reservation_status === 'COMMITTED';
      return counts ? { ...after, reservation_status: 'RELEASED', expires_at: null } : after;
    }
    default:
      return commit(trusted.executed_minor - trusted.refunded_minor);
  }
}
