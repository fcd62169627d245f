import type { Assess } from '../domain/assessment.ts';
import { type Authority, assessmentInputs } from '../domain/authorities.ts';
import type { BudgetCounter } from '../domain/budget.ts';
import { decide, type Verdict } from '../domain/decide.ts';
import {
  apply,
  beginHistory,
  type DecisionEvent,
  type DecisionHistory,
  type PlacedEvent,
} from '../domain/decision-history.ts';
import { budgetImpact, isExpired } from '../domain/decision-states.ts';
import type { Decision, DecisionKind, ReasonCode } from '../domain/decisions.ts';
import { reservationIdOf } from '../domain/reservations.ts';
import { addMinor } from '../values/money.ts';

/** Why a decision was left out of a replay. */
export const SKIP_REASONS = ['CURRENCY_DIFFERS'] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

const MAX_CHANGED = 100;

export interface SimulationTally {
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
  current: SimulationTally;
  draft: SimulationTally;
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

/** A decision of which the draft holds something else than was held: as it was, and as the draft makes it. */
interface Diverged {
  real: DecisionHistory;
  /** Null: the draft denies it, so nothing of it would have been spent. */
  drafted: DecisionHistory | null;
  /** Where the draft holds less than was held, no more than this is spent. */
  max_minor: number;
}

const NOTHING: BudgetCounter = { held_minor: 0, committed_minor: 0 };

const emptyTally = (): SimulationTally => ({ allow: 0, review: 0, deny: 0, authorized_minor: 0 });

function count(tally: SimulationTally, decision: DecisionKind, authorized_minor: number): void {
  if (decision === 'ALLOW') tally.allow += 1;
  else if (decision === 'REVIEW') tally.review += 1;
  else tally.deny += 1;
  tally.authorized_minor = addMinor(tally.authorized_minor, authorized_minor);
}

/** What the month's counter held before this decision was made: what it found, which its answer told. */
function foundBy({ reservation }: Decision): BudgetCounter {
  const { held_minor, committed_minor } = reservation.budget;
  const own_minor = reservation.status === 'HELD' ? reservation.amount_minor : 0;
  return { held_minor: held_minor - own_minor, committed_minor };
}

/** Null: the draft holds what was held. */
function divergence(made: Decision, verdict: Verdict): Diverged | null {
  const was_minor = made.reservation.amount_minor;
  const { decision, held_amount_minor } = verdict;
  if (decision === made.decision && held_amount_minor === was_minor) return null;
  const real = beginHistory(made);
  if (decision === 'DENY') return { real, drafted: null, max_minor: 0 };
  const drafted: Decision = {
    ...made,
    decision,
    review_state: decision === 'REVIEW' ? 'PENDING' : null,
    reservation: {
      ...made.reservation,
      reservation_id: reservationIdOf(made.decision_id),
      status: 'HELD',
      amount_minor: held_amount_minor,
    },
  };
  const max_minor = was_minor > held_amount_minor ? held_amount_minor : Number.MAX_SAFE_INTEGER;
  return { real, drafted: beginHistory(drafted), max_minor };
}

/** The draft's decision after what really happened to it. */
function followed({ drafted, real }: Diverged, event: DecisionEvent): DecisionHistory | null {
  if (drafted === null) return null;
  // The draft may have asked nobody.
  if (event.type === 'decision.review.recorded' && drafted.decision.decision !== 'REVIEW') return drafted;
  if (event.type === 'reservation.expired') {
    const expires =
      drafted.decision.decision === real.decision.decision && isExpired(drafted.state, Date.parse(event.at));
    if (!expires) return drafted;
  }
  return apply(drafted, event);
}

/** How much more the draft counts of a decision than was counted of it; less than nothing where it counts less. */
function surplusOf({ real, drafted, max_minor }: Diverged): BudgetCounter {
  const was = budgetImpact(real.state);
  const is = drafted === null ? NOTHING : budgetImpact(drafted.state);
  return {
    held_minor: Math.min(is.held_minor, max_minor) - was.held_minor,
    committed_minor: Math.min(is.committed_minor, max_minor) - was.committed_minor,
  };
}

/**
 * Replays an agent's real decisions against a draft of its authority. Each finds the month's counter as it really stood,
 * but for those decisions before it of which the draft holds something else: these follow what really happened to them
 * afterwards (a spend that was executed, failed, was cancelled or refunded, a review that denied it, a hold that ran out).
 * So the authority under which decisions were made changes nothing, however few of them are replayed and whatever
 * became of those before them. Purpose is judged anew only where the draft says something else to a judge of purpose than
 * the authority that the decision was made by. Decisions in another currency than the draft's are left out: no limit of
 * the draft speaks of them. Pure; nothing is saved.
 */
export function makeSimulation(options: {
  draft: Authority;
  assess: Assess;
  /** Everything that was recorded of the decisions that are going to be replayed, in any order. */
  events: readonly PlacedEvent[];
}): Simulation {
  const { draft, assess } = options;
  const events = [...options.events].sort((a, b) => (a.place < b.place ? -1 : 1));
  const judged = assessmentInputs(draft);
  /** How much more than was counted the draft counts in each month, over all decisions replayed so far. */
  const surplus = new Map<string, BudgetCounter>();
  const diverged = new Map<string, Diverged>();
  const judged_alike = new Map<Authority, boolean>();
  const current = emptyTally();
  const drafts = emptyTally();
  const transitions = new Map<string, SimulationResult['transitions'][number]>();
  const changed: SimulationResult['changed'] = [];
  let next_event = 0;
  let evaluated = 0;
  let in_other_currency = 0;

  /** Takes a decision's surplus, as it is in place of what it was, into its month's. */
  function recount(period: string, was: BudgetCounter, is: BudgetCounter): void {
    const sum = surplus.get(period) ?? NOTHING;
    surplus.set(period, {
      held_minor: sum.held_minor + is.held_minor - was.held_minor,
      committed_minor: sum.committed_minor + is.committed_minor - was.committed_minor,
    });
  }

  /** What happened before a decision was made to those before it. */
  function followUntil(decision_id: string): void {
    const place = decision_id.slice(4);
    for (let next = events[next_event]; next !== undefined && next.place < place; next = events[next_event]) {
      next_event += 1;
      const before = diverged.get(next.decision_id);
      if (before === undefined) continue;
      const after = {
        ...before,
        real: apply(before.real, next.event),
        drafted: followed(before, next.event),
      };
      diverged.set(next.decision_id, after);
      recount(before.real.decision.reservation.period, surplusOf(before), surplusOf(after));
    }
  }

  function budgetFor(made: Decision): BudgetCounter {
    const found = foundBy(made);
    const more = surplus.get(made.reservation.period) ?? NOTHING;
    return {
      held_minor: found.held_minor + more.held_minor,
      committed_minor: found.committed_minor + more.committed_minor,
    };
  }

  function isJudgedAlike(authority: Authority | null): boolean {
    if (authority === null) return false;
    let alike = judged_alike.get(authority);
    if (alike === undefined) {
      alike = assessmentInputs(authority) === judged;
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
    if (changed.length > MAX_CHANGED) changed.shift();
  }

  return {
    replay(made, judged_by) {
      followUntil(made.decision_id);
      if (made.currency !== draft.currency) {
        in_other_currency += 1;
        return;
      }
      evaluated += 1;
      const request = {
        action: made.action,
        limitable: made.limitable,
        ...(made.task === null ? {} : { task: made.task }),
        ...(made.trace === null ? {} : { trace: made.trace }),
        ...(made.min_amount_minor === null ? {} : { min_amount_minor: made.min_amount_minor }),
      };
      const assessment = isJudgedAlike(judged_by) ? made.purpose : assess(draft, request);
      const verdict = decide({ authority: draft, request, budget: budgetFor(made), assessment });
      count(current, made.decision, made.authorized_amount_minor);
      count(drafts, verdict.decision, verdict.authorized_amount_minor);
      compare(made, verdict);
      const divergent = divergence(made, verdict);
      if (divergent === null) return;
      diverged.set(made.decision_id, divergent);
      recount(made.reservation.period, NOTHING, surplusOf(divergent));
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
