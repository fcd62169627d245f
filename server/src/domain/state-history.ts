import type { Consumption } from './capabilities.ts';
import {
  afterConsumption,
  afterOutcome,
  afterReview,
  afterRunningOut,
  countedBy,
  type DecisionState,
  initialState,
  stateAt,
} from './decision-states.ts';
import type { DecisionCore } from './decisions.ts';
import { firstIdAt } from './ids.ts';
import type { Label } from './labels.ts';
import type { Outcome } from './outcomes.ts';
import type { RunOutHold } from './reservations.ts';
import type { ReviewRow } from './reviews.ts';

/** Everything that was recorded about a decision, each list in the order of its making. */
export interface DecisionRecords {
  reviews: readonly ReviewRow[];
  labels: readonly Pick<Label, 'label_id' | 'created_at'>[];
  outcomes: readonly Outcome[];
  consumption: Consumption | null;
  run_out: RunOutHold | null;
}

/** What a decision's state must be, by the records about it. */
export interface RebuiltState {
  state: DecisionState;
  /** Whether a row must be kept of it: only where something changed, or will by itself. */
  is_kept: boolean;
  /** Whether it ever counted in its month's budget, which then has a counter. */
  ever_counted: boolean;
}

interface Step {
  /** Ids' last 26 characters sort by the moment of making, whatever they name. */
  order: string;
  at: string;
  change: (state: DecisionState) => DecisionState;
}

/**
 * Makes a decision's state again from what was recorded about it. A hold that ran out was let go before anything
 * else of its moment; a capability was consumed before every outcome, since an outcome revokes it. Throws
 * RangeError where a record's time is none.
 */
export function rebuiltState(made: DecisionCore, records: DecisionRecords): RebuiltState {
  const { consumption, run_out } = records;
  const steps: Step[] = [
    ...records.reviews.map((review) => ({
      order: review.review_id.slice(4),
      at: review.created_at,
      change: (state: DecisionState) => afterReview(made, state, review),
    })),
    ...records.labels.map(({ label_id, created_at }) => ({
      order: label_id.slice(4),
      at: created_at,
      change: (state: DecisionState) => ({ ...state, label_id }),
    })),
    ...records.outcomes.map((outcome, i) => ({
      order: outcome.outcome_id.slice(4),
      at: outcome.recorded_at,
      change: (state: DecisionState) => afterOutcome(made, state, records.outcomes.slice(0, i + 1)),
    })),
  ];
  if (run_out !== null) {
    const order = firstIdAt('reservation', Date.parse(run_out.let_go_at)).slice(4);
    steps.push({ order, at: run_out.let_go_at, change: afterRunningOut });
  }
  steps.sort((a, b) => (a.order < b.order ? -1 : 1));
  if (consumption !== null) {
    const first_outcome = records.outcomes[0]?.outcome_id.slice(4);
    const place = steps.findIndex((step) => step.order === first_outcome);
    const { consumed_at } = consumption;
    const change = (state: DecisionState) => afterConsumption(state, consumed_at);
    steps.splice(place === -1 ? steps.length : place, 0, { order: '', at: consumed_at, change });
  }

  let state = initialState(made);
  let ever_counted = counts(state);
  for (const { at, change } of steps) {
    // Running out is a step of its own; what else has run out by a record's moment, the record found so.
    state = change(change === afterRunningOut ? state : stateAt(made, state, Date.parse(at)));
    ever_counted ||= counts(state);
  }
  return { state, is_kept: steps.length > 0 || made.reservation.expires_at !== null, ever_counted };
}

function counts(state: DecisionState): boolean {
  const { held_minor, committed_minor } = countedBy(state);
  return held_minor > 0 || committed_minor > 0;
}
