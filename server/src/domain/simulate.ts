import type { Assess } from '../purpose/assessment.ts';
import { type Authority, judgedText } from './authorities.ts';
import type { BudgetCounter } from './budget.ts';
import { decide, type Verdict } from './decide.ts';
import {
  afterConsumption,
  afterOutcome,
  afterReview,
  afterRunningOut,
  countedBy,
  type DecisionState,
  hasRunOut,
  initialState,
} from './decision-states.ts';
import type { Decision, DecisionKind, ReasonCode } from './decisions.ts';
import { firstIdAt } from './ids.ts';
import { addMinor } from './money.ts';
import type { OutcomeReport } from './outcomes.ts';
import { reservationIdOf } from './reservations.ts';
import type { ReviewRow } from './reviews.ts';

/** Why a decision was left out of a replay. */
export const SKIP_REASONS = ['CURRENCY_DIFFERS'] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

const MOST_CHANGED = 100;

/** Something that happened to a decision after it was made, and that moved its money. */
export type LaterChange =
  | { kind: 'outcome'; id: string; decision_id: string; report: OutcomeReport }
  | { kind: 'review'; id: string; decision_id: string; review: ReviewRow }
  | { kind: 'consumption'; at: string; decision_id: string }
  | { kind: 'run_out'; at: string; decision_id: string };

export interface Tally {
  allow: number;
  review: number;
  deny: number;
  /** Minor units of the draft's currency. */
  authorized_minor: number;
}

/** What a draft would have made of real decisions. All amounts are minor units of the draft's currency. */
export interface SimulationResult {
  evaluated: number;
  skipped: { reason: SkipReason; count: number }[];
  current: Tally;
  draft: Tally;
  /** Decisions that would have been another; requested amounts. */
  transitions: { from: DecisionKind; to: DecisionKind; count: number; amount_minor: number }[];
  /** The newest of those that would have been another, or for another reason or amount; newest first. */
  changed: {
    decision_id: string;
    created_at: string;
    merchant: string;
    amount_minor: number;
    current: { decision: DecisionKind; reason_code: ReasonCode };
    draft: { decision: DecisionKind; reason_code: ReasonCode; authorized_amount_minor: number };
  }[];
}

export interface Simulation {
  /** Decisions must come in the order of their making. `judged_by`: the authority it was decided by. */
  replay(made: Decision, judged_by: Authority | null): void;
  result(): SimulationResult;
}

/** A decision as the draft made it, for as long as something is to happen to it. */
interface Redecided {
  made: Decision;
  state: DecisionState;
  outcomes: OutcomeReport[];
  /** Where the draft holds less than was held, no more than this is spent. */
  most_minor: number;
  was: DecisionKind;
}

/** Ids sort by the moment of their making whatever they name: what stands behind the prefix. */
const momentOf = (id: string) => id.slice(id.indexOf('_') + 1);
const momentOfChange = (change: LaterChange) =>
  momentOf('at' in change ? firstIdAt('decision', Date.parse(change.at)) : change.id);

const emptyTally = (): Tally => ({ allow: 0, review: 0, deny: 0, authorized_minor: 0 });

function count(tally: Tally, decision: DecisionKind, authorized_minor: number): void {
  if (decision === 'ALLOW') tally.allow += 1;
  else if (decision === 'REVIEW') tally.review += 1;
  else tally.deny += 1;
  tally.authorized_minor = addMinor(tally.authorized_minor, authorized_minor);
}

/** A decision as the draft makes it, with the state that later changes go on from. */
function heldBy(made: Decision, verdict: Verdict): Redecided {
  const redecided: Decision =
    verdict.decision === 'DENY'
      ? made
      : {
          ...made,
          decision: verdict.decision,
          review_state: verdict.decision === 'REVIEW' ? 'PENDING' : null,
          reservation: {
            ...made.reservation,
            reservation_id: reservationIdOf(made.decision_id),
            status: 'HELD',
            amount_minor: verdict.held_amount_minor,
          },
        };
  const was_held = made.reservation.amount_minor;
  return {
    made: redecided,
    state: initialState(redecided),
    outcomes: [],
    most_minor: was_held > verdict.held_amount_minor ? verdict.held_amount_minor : Number.MAX_SAFE_INTEGER,
    was: made.decision,
  };
}

function countedByRedecided({ state, most_minor }: Redecided): BudgetCounter {
  const { held_minor, committed_minor } = countedBy(state);
  return { held_minor, committed_minor: Math.min(committed_minor, most_minor) };
}

/**
 * Replays an agent's real decisions against a draft of its authority. The draft's budgets begin empty before the
 * first decision replayed, fill with what the draft holds, and follow what really happened afterwards: a spend that
 * was executed, failed, was cancelled or refunded, a review that denied it, a hold that ran out. So the authority
 * under which all of an agent's decisions were made changes nothing. Purpose is judged anew only where the draft
 * says something else to a judge of purpose than the authority that the decision was made by. Decisions in another
 * currency than the draft's are left out: no limit of the draft speaks of them. Pure; nothing is saved.
 */
export function makeSimulation(options: {
  draft: Authority;
  assess: Assess;
  /** Everything that happened later to the decisions that are going to be replayed, in any order. */
  changes: readonly LaterChange[];
}): Simulation {
  const { draft, assess } = options;
  const changes = options.changes
    .map((change) => ({ change, moment: momentOfChange(change) }))
    .sort((a, b) => (a.moment < b.moment ? -1 : a.moment > b.moment ? 1 : 0));
  const changing = new Set(changes.map(({ change }) => change.decision_id));
  const drafted = judgedText(draft);
  const counters = new Map<string, BudgetCounter>();
  const redecided = new Map<string, Redecided>();
  const judged_alike = new Map<Authority, boolean>();
  const current = emptyTally();
  const drafts = emptyTally();
  const transitions = new Map<string, SimulationResult['transitions'][number]>();
  const changed: SimulationResult['changed'] = [];
  let next_change = 0;
  let evaluated = 0;
  let in_other_currency = 0;

  const counterOf = (period: string) => counters.get(period) ?? { held_minor: 0, committed_minor: 0 };

  function recount(period: string, before: BudgetCounter, after: BudgetCounter): void {
    const counter = counterOf(period);
    counters.set(period, {
      held_minor: counter.held_minor - before.held_minor + after.held_minor,
      committed_minor: counter.committed_minor - before.committed_minor + after.committed_minor,
    });
  }

  function follow(change: LaterChange): void {
    const one = redecided.get(change.decision_id);
    if (one === undefined) return;
    const before = countedByRedecided(one);
    if (change.kind === 'outcome') {
      one.outcomes.push(change.report);
      one.state = afterOutcome(one.made, one.state, one.outcomes);
    } else if (change.kind === 'review') {
      // The draft may have asked nobody.
      if (one.made.decision === 'REVIEW') one.state = afterReview(one.made, one.state, change.review);
    } else if (change.kind === 'consumption') {
      one.state = afterConsumption(one.state, change.at);
    } else if (one.made.decision === one.was && hasRunOut(one.state, Date.parse(change.at))) {
      one.state = afterRunningOut(one.state);
    }
    recount(one.made.reservation.period, before, countedByRedecided(one));
  }

  function followUntil(decision_id: string): void {
    const moment = momentOf(decision_id);
    for (; next_change < changes.length; next_change++) {
      const { change, moment: at } = changes[next_change] as (typeof changes)[number];
      if (at > moment) return;
      follow(change);
    }
  }

  function isJudgedAlike(authority: Authority | null): boolean {
    if (authority === null) return false;
    let alike = judged_alike.get(authority);
    if (alike === undefined) {
      alike = judgedText(authority) === drafted;
      judged_alike.set(authority, alike);
    }
    return alike;
  }

  function compare(made: Decision, verdict: Verdict): void {
    const { decision, reason_code, authorized_amount_minor } = verdict;
    const amount_minor = made.requested_amount_minor;
    if (decision !== made.decision) {
      const name = `${made.decision} ${decision}`;
      const known = transitions.get(name) ?? { from: made.decision, to: decision, count: 0, amount_minor: 0 };
      known.count += 1;
      known.amount_minor = addMinor(known.amount_minor, amount_minor);
      transitions.set(name, known);
    }
    if (
      decision === made.decision &&
      reason_code === made.reason_code &&
      authorized_amount_minor === made.authorized_amount_minor
    ) {
      return;
    }
    changed.push({
      decision_id: made.decision_id,
      created_at: made.created_at,
      merchant: made.action.merchant,
      amount_minor,
      current: { decision: made.decision, reason_code: made.reason_code },
      draft: { decision, reason_code, authorized_amount_minor },
    });
    if (changed.length > MOST_CHANGED) changed.shift();
  }

  return {
    replay(made, judged_by) {
      followUntil(made.decision_id);
      if (made.currency !== draft.currency) {
        in_other_currency += 1;
        return;
      }
      evaluated += 1;
      const { period } = made.reservation;
      const request = {
        action: made.action,
        limitable: made.limitable,
        ...(made.task === null ? {} : { task: made.task }),
        ...(made.trace === null ? {} : { trace: made.trace }),
        ...(made.min_amount_minor === null ? {} : { min_amount_minor: made.min_amount_minor }),
      };
      const assessment = isJudgedAlike(judged_by) ? made.purpose : assess(draft, request);
      const verdict = decide({ authority: draft, request, budget: counterOf(period), assessment });
      count(current, made.decision, made.authorized_amount_minor);
      count(drafts, verdict.decision, verdict.authorized_amount_minor);
      compare(made, verdict);
      if (verdict.decision === 'DENY') {
        // Money that moved although it was denied would have moved all the same.
        if (made.decision === 'DENY' && changing.has(made.decision_id)) {
          redecided.set(made.decision_id, heldBy(made, verdict));
        }
        return;
      }
      const held = { held_minor: verdict.held_amount_minor, committed_minor: 0 };
      recount(period, { held_minor: 0, committed_minor: 0 }, held);
      if (changing.has(made.decision_id)) redecided.set(made.decision_id, heldBy(made, verdict));
    },
    result: () => ({
      evaluated,
      skipped: in_other_currency === 0 ? [] : [{ reason: 'CURRENCY_DIFFERS', count: in_other_currency }],
      current,
      draft: drafts,
      transitions: [...transitions.values()],
      changed: [...changed].reverse(),
    }),
  };
}
