import { SKIP_REASONS } from '@purser/contract/values/reports';
import type { SharedBudget } from '@purser/rules/counters/shared-budgets';
import type { Assess } from '@purser/rules/domain/assessment';
import { type Authority, assessmentInputs } from '@purser/rules/domain/authorities';
import type { BudgetCounter } from '@purser/rules/domain/budget';
import {
  apply,
  beginHistory,
  type DecisionEvent,
  type DecisionHistory,
  type PlacedEvent,
} from '@purser/rules/domain/decision-history';
import { budgetImpact, isExpired } from '@purser/rules/domain/decision-states';
import type { Decision, DecisionKind, ReasonCode } from '@purser/rules/domain/decisions';
import type { Label } from '@purser/rules/domain/labels';
import { type CountedLimit, reservationIdOf } from '@purser/rules/domain/reservations';
import { NO_FACTS } from '@purser/rules/domain/spend-facts';
import { type Directory, vouchingEntry } from '@purser/rules/merchants/directory';
import { decide, type Verdict } from '@purser/rules/policy/decide';
import type { KnownMerchantRow } from '@purser/rules/policy/known-merchants';
import { needsKnownMerchant } from '@purser/rules/policy/new-merchant';
import { valueIn } from '@purser/rules/values/maps';
import { addMinor } from '@purser/rules/values/money';
import { DraftCounters } from './draft-counters.ts';
import { makeDraftedMerchants } from './drafted-merchants.ts';

export { SKIP_REASONS };

export type SkipReason = (typeof SKIP_REASONS)[number];

const MAX_CHANGED = 100;

/** How many decisions there are of each kind. */
export interface SimulationKinds {
  allow: number;
  review: number;
  deny: number;
}

export interface SimulationTally extends SimulationKinds {
  /** Minor units of the draft's currency. */
  authorized_minor: number;
}

/** How a draft would have decided real spends. All amounts are minor units of the draft's currency. */
export interface SimulationResult {
  evaluated: number;
  skipped: { reason: SkipReason; count: number }[];
  current: SimulationTally;
  draft: SimulationTally;
  /** Decisions that would have been different, with the sums of the requested amounts. */
  transitions: { from: DecisionKind; to: DecisionKind; count: number; amount_minor: number }[];
  /** The newest decisions that would have differed in decision, reason or amount; newest first. */
  changed: {
    decision_id: string;
    created_at: string;
    merchant: string;
    amount_minor: number;
    current: { decision: DecisionKind; reason_code: ReasonCode };
    draft: { decision: DecisionKind; reason_code: ReasonCode; authorized_amount_minor: number };
    /** The current label; null if there is none. */
    label: Label['label'] | null;
  }[];
  /** Labelled decisions among those that would have been different. */
  by_label: { label: Label['label']; from: DecisionKind; to: DecisionKind; count: number }[];
  /** By first reason, the most frequent ones first: how many decisions had it, and how many would have had it. */
  by_reason: { reason_code: ReasonCode; current: number; draft: number }[];
  /** UTC days with decisions, oldest first. */
  by_day: { day: string; current: SimulationKinds; draft: SimulationKinds }[];
}

export interface Simulation {
  /**
   * Must be called in the order in which the decisions were made. `authority`: the one that decided it. `known`: whom it pays as
   * it really became known; may be left out where the draft does not ask for that.
   */
  replay(original: Decision, authority: Authority | null, known?: KnownMerchantRow): void;
  result(): SimulationResult;
}

/** A decision for which the draft holds another amount, or counts in limits over time: its real history, and the draft's. */
interface Diverged {
  real: DecisionHistory;
  /** Null if the draft denies it, so that nothing would have been spent. */
  drafted: DecisionHistory | null;
  /** The most that would have been spent, where the draft holds less than was held. */
  max_minor: number;
}

const NOTHING: BudgetCounter = { held_minor: 0, committed_minor: 0 };

const emptyTally = (): SimulationTally => ({ allow: 0, review: 0, deny: 0, authorized_minor: 0 });

function countKind(kinds: SimulationKinds, decision: DecisionKind): void {
  if (decision === 'ALLOW') kinds.allow += 1;
  else if (decision === 'REVIEW') kinds.review += 1;
  else kinds.deny += 1;
}

const noKinds = (): SimulationKinds => ({ allow: 0, review: 0, deny: 0 });

function count(tally: SimulationTally, decision: DecisionKind, authorized_minor: number): void {
  countKind(tally, decision);
  tally.authorized_minor = addMinor(tally.authorized_minor, authorized_minor);
}

/** The month's counter before this decision, from the counter that its answer states. */
function counterBefore({ reservation }: Decision): BudgetCounter {
  const { held_minor, committed_minor } = reservation.budget;
  const own_minor = reservation.status === 'HELD' ? reservation.amount_minor : 0;
  return { held_minor: held_minor - own_minor, committed_minor };
}

/** Null if the draft holds what was held, and counts in no limit over time: `limits` undefined. */
function divergence(
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

/** The draft's decision after an event that really happened to it. */
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
function surplusOf({ real, drafted, max_minor }: Diverged): BudgetCounter {
  const was = budgetImpact(real.state);
  const is = drafted === null ? NOTHING : budgetImpact(drafted.state);
  return {
    held_minor: Math.min(is.held_minor, max_minor) - was.held_minor,
    committed_minor: Math.min(is.committed_minor, max_minor) - was.committed_minor,
  };
}

/**
 * Makes a replay of an agent's real decisions against a draft of its authority. Each decision sees the month's counter as
 * it really was, plus the difference that earlier decisions make under the draft. Those go through what really happened
 * to them: outcomes (executed, failed, cancelled, refunded), reviews and expiry of the hold. Replaying the authority that
 * decided therefore changes nothing, however few decisions are replayed and whatever happened to earlier ones. The
 * purpose is assessed again only if the draft gives the assessor other inputs than the authority that decided, or if the
 * merchant and payee have been listed as allowed, or unlisted, since. The listed merchants are those of now. Known is whom the
 * agent had paid before, and whom the replayed decisions made known under the draft. Decisions
 * in another currency than the draft's are skipped, because no limit of the draft applies to them. Nothing is saved.
 */
export function makeSimulation(options: {
  draft: Authority;
  assess: Assess;
  /** The merchants listed for the agent, as they stand. */
  directory: Directory;
  /** Returns the merchants that were listed at a version. */
  directoryAtVersion: (version: number) => Directory;
  /** The shared budgets of the workspace, where the draft names some. */
  budgets?: readonly SharedBudget[];
  /** All events of the decisions to be replayed, in any order. */
  events: readonly PlacedEvent[];
}): Simulation {
  const { draft, assess, directory, directoryAtVersion } = options;
  const events = [...options.events].sort((a, b) => (a.place < b.place ? -1 : 1));
  const labels = new Map<string, Label['label']>();
  for (const { decision_id, event } of events) {
    if (event.type === 'decision.label.recorded') labels.set(decision_id, event.label.label);
  }
  const facts = { ...NO_FACTS, listed: directory.listed };
  const draft_inputs = assessmentInputs(draft);
  const drafted_merchants = needsKnownMerchant(draft) ? makeDraftedMerchants() : null;
  /** By month: how much more counts under the draft than really did, over all decisions replayed so far. */
  const surplus = new Map<string, BudgetCounter>();
  const diverged = new Map<string, Diverged>();
  const draft_counters = new DraftCounters(draft, options.budgets ?? []);
  const has_same_inputs = new Map<Authority, boolean>();
  /** The merchants that were listed for the decision replayed last. */
  let before: Directory | undefined;
  const current = emptyTally();
  const drafts = emptyTally();
  const transitions = new Map<string, SimulationResult['transitions'][number]>();
  const labeled = new Map<string, SimulationResult['by_label'][number]>();
  const changed: SimulationResult['changed'] = [];
  const reasons = new Map<ReasonCode, { current: number; draft: number }>();
  const days = new Map<string, { current: SimulationKinds; draft: SimulationKinds }>();
  let next_event = 0;
  let evaluated = 0;
  let in_other_currency = 0;

  /** Counts by reason and day what was decided and what would have been. */
  function countBoth(original: Decision, verdict: Verdict): void {
    for (const [side, { decision, reason_code }] of [
      ['current', original],
      ['draft', verdict],
    ] as const) {
      const reason = reasons.get(reason_code) ?? { current: 0, draft: 0 };
      reason[side] += 1;
      reasons.set(reason_code, reason);
      const name = original.created_at.slice(0, 10);
      const day = days.get(name) ?? { current: noKinds(), draft: noKinds() };
      countKind(day[side], decision);
      days.set(name, day);
    }
  }

  /** Replaces what a decision contributes to the surplus of its month. */
  function recount(period: string, was: BudgetCounter, is: BudgetCounter): void {
    const sum = surplus.get(period) ?? NOTHING;
    surplus.set(period, {
      held_minor: sum.held_minor + is.held_minor - was.held_minor,
      committed_minor: sum.committed_minor + is.committed_minor - was.committed_minor,
    });
  }

  /** Applies the events that happened before a decision was made. */
  function applyEventsBefore(decision_id: string): void {
    const place = decision_id.slice(4);
    for (let next = events[next_event]; next !== undefined && next.place < place; next = events[next_event]) {
      next_event += 1;
      drafted_merchants?.apply(next);
      const before = diverged.get(next.decision_id);
      if (before === undefined) continue;
      const after = {
        ...before,
        real: apply(before.real, next.event),
        drafted: applyToDraft(before, next.event),
      };
      diverged.set(next.decision_id, after);
      recount(before.real.decision.reservation.period, surplusOf(before), surplusOf(after));
      draft_counters.count(before, after, next.event.at);
    }
  }

  function budgetFor(original: Decision): BudgetCounter {
    const real = counterBefore(original);
    const more = surplus.get(original.reservation.period) ?? NOTHING;
    return {
      held_minor: real.held_minor + more.held_minor,
      committed_minor: real.committed_minor + more.committed_minor,
    };
  }

  function hasSameInputs(authority: Authority | null): boolean {
    if (authority === null) return false;
    let same = has_same_inputs.get(authority);
    if (same === undefined) {
      same = assessmentInputs(authority) === draft_inputs;
      has_same_inputs.set(authority, same);
    }
    return same;
  }

  /** Returns true if the merchants listed then vouch for a spend as those listed now do. */
  function isVouchedAsBefore({ action, directory_version: then = 0 }: Decision): boolean {
    if (then === directory.version) return true;
    if (before?.version !== then) before = directoryAtVersion(then);
    return (vouchingEntry(before, action) === null) === (vouchingEntry(directory, action) === null);
  }

  function isKnown(original: Decision, known: KnownMerchantRow | undefined): boolean {
    if (drafted_merchants === null) return false;
    // What replayed decisions made known is the draft's own affair.
    const was_known =
      known !== undefined &&
      known.since <= original.created_at &&
      !drafted_merchants.hasReplayed(known.decision_id);
    return was_known || drafted_merchants.isKnown(original);
  }

  function compare(original: Decision, verdict: Verdict): void {
    const { decision, reason_code, authorized_amount_minor } = verdict;
    const amount_minor = original.requested_amount_minor;
    const label = labels.get(original.decision_id) ?? null;
    if (decision !== original.decision) {
      const way = { from: original.decision, to: decision };
      const name = `${way.from} ${way.to}`;
      const known = valueIn(transitions, name, () => ({ ...way, count: 0, amount_minor: 0 }));
      known.count += 1;
      known.amount_minor = addMinor(known.amount_minor, amount_minor);
      if (label !== null)
        valueIn(labeled, `${label} ${name}`, () => ({ label, ...way, count: 0 })).count += 1;
    }
    if (
      decision === original.decision &&
      reason_code === original.reason_code &&
      authorized_amount_minor === original.authorized_amount_minor
    ) {
      return;
    }
    changed.push({
      decision_id: original.decision_id,
      created_at: original.created_at,
      merchant: original.action.merchant,
      amount_minor,
      current: { decision: original.decision, reason_code: original.reason_code },
      draft: { decision, reason_code, authorized_amount_minor },
      label,
    });
    if (changed.length > MAX_CHANGED) changed.shift();
  }

  return {
    replay(original, authority, known) {
      applyEventsBefore(original.decision_id);
      if (original.currency !== draft.currency) {
        in_other_currency += 1;
        return;
      }
      evaluated += 1;
      const request = {
        action: original.action,
        limitable: original.limitable,
        ...(original.task === null ? {} : { task: original.task }),
        ...(original.trace === null ? {} : { trace: original.trace }),
        ...(original.min_amount_minor === null ? {} : { min_amount_minor: original.min_amount_minor }),
      };
      const is_as_before = hasSameInputs(authority) && isVouchedAsBefore(original);
      const assessment = is_as_before ? original.purpose : assess(draft, request, facts);
      const budget = budgetFor(original);
      const counters = draft_counters.before(original);
      const shared_budgets = draft_counters.budgetsBefore(original);
      const verdict = decide({
        authority: draft,
        request,
        directory,
        budget,
        counters,
        shared_budgets,
        assessment,
        is_known_merchant: isKnown(original, known),
        now_ms: Date.parse(original.created_at),
      });
      count(current, original.decision, original.authorized_amount_minor);
      count(drafts, verdict.decision, verdict.authorized_amount_minor);
      countBoth(original, verdict);
      compare(original, verdict);
      drafted_merchants?.note(original, verdict.decision);
      const divergent = divergence(
        original,
        verdict,
        draft_counters.limits(original, counters, shared_budgets, verdict),
      );
      if (divergent === null) return;
      diverged.set(original.decision_id, divergent);
      draft_counters.count(null, divergent, original.created_at);
      recount(original.reservation.period, NOTHING, surplusOf(divergent));
    },
    result: () => ({
      evaluated,
      skipped: in_other_currency === 0 ? [] : [{ reason: 'CURRENCY_DIFFERS', count: in_other_currency }],
      current,
      draft: drafts,
      transitions: [...transitions.values()],
      changed: [...changed].reverse(),
      by_label: [...labeled.values()],
      by_reason: [...reasons]
        .map(([reason_code, counts]) => ({ reason_code, ...counts }))
        .sort(
          (a, b) => b.current + b.draft - a.current - a.draft || (a.reason_code < b.reason_code ? -1 : 1),
        ),
      by_day: [...days].map(([day, counts]) => ({ day, ...counts })).sort((a, b) => (a.day < b.day ? -1 : 1)),
    }),
  };
}
