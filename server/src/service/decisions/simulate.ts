import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import type { Label } from '@purser/contract/records';
import type { Allowance } from '@purser/rules/counters/allowances';
import type { SharedBudget } from '@purser/rules/counters/shared-budgets';
import { assessmentInputs } from '@purser/rules/domain/authorities';
import type { BudgetCounter } from '@purser/rules/domain/budget';
import type { PlacedEvent } from '@purser/rules/domain/decision-history';
import type { Answers } from '@purser/rules/domain/questions';
import { NO_FACTS, type SpendFacts } from '@purser/rules/domain/spend-facts';
import { isLease } from '@purser/rules/leases/leases';
import { type Directory, vouchingEntry } from '@purser/rules/merchants/directory';
import { foundAgain, vouchingAllowances } from '@purser/rules/policy/allowances';
import { decide } from '@purser/rules/policy/decide';
import type { KnownMerchantRow } from '@purser/rules/policy/known-merchants';
import { needsKnownMerchant } from '@purser/rules/policy/new-merchant';
import { answersIn } from '@purser/rules/policy/standing-approvals';
import type { AssessLevels } from '@purser/rules/purpose/built-in-assessor';
import { valueIn } from '@purser/rules/values/maps';
import { AttentionTable, isFoundWrong, once } from './attention.ts';
import { type Diverged, divergedAfter, divergence, NOTHING, surplusOf } from './divergence.ts';
import { DraftCounters } from './draft-counters.ts';
import { type DraftedMerchants, makeDraftedMerchants } from './drafted-merchants.ts';
import { SimulationCounts, type SimulationResult } from './simulation-counts.ts';

export interface SimulationOptions {
  draft: Authority;
  assessLevels: AssessLevels;
  /** The merchants listed for the agent, as they stand. */
  directory: Directory;
  /** The answers to the agent's questions, as they stand. */
  answers: Answers;
  /** Returns the merchants that were listed at a version. */
  directoryAtVersion: (version: number) => Directory;
  /** The shared budgets of the workspace, where the draft names some. */
  budgets?: readonly SharedBudget[];
  /** All events of the decisions to be replayed, in any order. */
  events: readonly PlacedEvent[];
}

/** The month's counter before this decision, from the counter that its answer states. */
function counterBefore({ reservation }: Decision): BudgetCounter {
  const { held_minor, committed_minor } = reservation.budget;
  const own_minor = reservation.status === 'HELD' ? reservation.amount_minor : 0;
  return { held_minor: held_minor - own_minor, committed_minor };
}

/**
 * Returns what the answer found about the allowances that the spend was made under: how much was left of them was nobody's but theirs.
 */
function replayedAllowances(original: Decision, authority: Authority | null) {
  const { allowance, standing_approval, policy_trace, reservation } = original;
  const answers = answersIn(policy_trace);
  const answered = answers.size === 0 ? {} : { replayed_answers: answers };
  if (allowance === undefined) return standing_approval === undefined ? {} : answered;
  // Where the authority named no shared budgets, those that were judged are its allowances'.
  const has_own_budgets = authority?.budgets !== undefined;
  const found = policy_trace.filter(
    ({ stage }) => stage === 'allowance' || (stage === 'shared_budget' && !has_own_budgets),
  );
  return { ...answered, replayed_allowances: found.map((each) => foundAgain(each, reservation)) };
}

/** The spend that a decision was asked for. */
export function requestOf({ action, limitable, task, trace, min_amount_minor }: Decision) {
  return {
    action,
    limitable,
    ...(task === null ? {} : { task }),
    ...(trace === null ? {} : { trace }),
    ...(min_amount_minor === null ? {} : { min_amount_minor }),
  };
}

/**
 * A replay of an agent's real decisions against a draft of its authority. Each decision sees the month's counter as
 * it really was, plus the difference that earlier decisions make under the draft. Those go through what really happened
 * to them: outcomes (executed, failed, cancelled, refunded), reviews and expiry of the hold. Replaying the authority that
 * decided therefore changes nothing, however few decisions are replayed and whatever happened to earlier ones. The
 * purpose is assessed again only if the draft gives the assessor other inputs than the authority that decided, or if the
 * merchant and payee have been listed as allowed, or unlisted, or a question that it raised has been answered, since. The
 * listed merchants and the answers are those of now. Known is whom the
 * agent had paid before, and whom the replayed decisions made known under the draft. Decisions
 * in another currency than the draft's are skipped, because no limit of the draft applies to them. Nothing is saved.
 */
export class Simulation {
  readonly #options: SimulationOptions;
  /** In their order. */
  readonly #events: readonly PlacedEvent[];
  readonly #labels = new Map<string, Label['label']>();
  readonly #draft_inputs: string;
  readonly #drafted_merchants: DraftedMerchants | null;
  readonly #draft_counters: DraftCounters;
  /** By month: how much more counts under the draft than really did, over all decisions replayed so far. */
  readonly #surplus = new Map<string, BudgetCounter>();
  readonly #diverged = new Map<string, Diverged>();
  readonly #has_same_inputs = new Map<Authority, boolean>();
  readonly #counts = new SimulationCounts();
  readonly #attention = new AttentionTable();
  readonly #denied = new Map<string, boolean>();
  /** The merchants that were listed for the decision replayed last. */
  #directory_before: Directory | undefined;
  #next_event = 0;
  #in_other_currency = 0;

  constructor(options: SimulationOptions) {
    const { draft, events, budgets } = options;
    this.#options = options;
    this.#events = [...events].sort((a, b) => (a.place < b.place ? -1 : 1));
    for (const { decision_id, event } of this.#events) {
      if (event.type === 'decision.label.recorded') this.#labels.set(decision_id, event.label.label);
      if (event.type === 'decision.review.recorded')
        this.#denied.set(decision_id, event.review.action === 'DENY');
    }
    this.#draft_inputs = assessmentInputs(draft);
    this.#drafted_merchants = needsKnownMerchant(draft) ? makeDraftedMerchants() : null;
    this.#draft_counters = new DraftCounters(draft, budgets);
  }

  /**
   * Must be called in the order in which the decisions were made. `authority`: the one that decided it. `known`: whom it pays as
   * it really became known; may be left out where the draft does not ask for that. `chain`: the allowances that it was made
   * under.
   */
  replay(
    original: Decision,
    authority: Authority | null,
    known?: KnownMerchantRow,
    chain?: readonly Allowance[],
  ): void {
    this.#applyEventsBefore(original.decision_id);
    const { draft, directory } = this.#options;
    if (original.currency !== draft.currency) {
      this.#in_other_currency += 1;
      return;
    }
    const request = requestOf(original);
    const counters = this.#draft_counters.before(original);
    const shared_budgets = this.#draft_counters.budgetsBefore(original);
    const made = this.#isAssessedAsBefore(original, authority) ? original.purpose : null;
    const judged = once(() => this.#options.assessLevels(draft, request, this.#facts(original, chain)));
    const assessment = made ?? judged()[draft.purpose.attention ?? 'NORMAL'];
    const verdict = decide({
      authority: draft,
      request,
      directory,
      budget: this.#budgetFor(original),
      counters,
      shared_budgets,
      ...replayedAllowances(original, authority),
      assessment,
      is_known_merchant: this.#isKnown(original, known),
      now_ms: Date.parse(original.created_at),
    });
    this.#counts.add(original, verdict, this.#labels.get(original.decision_id) ?? null);
    this.#attention.add({
      authority: draft,
      judged,
      made,
      policy_trace: verdict.policy_trace,
      is_wrong: isFoundWrong(this.#labels.get(original.decision_id), this.#denied.get(original.decision_id)),
    });
    this.#drafted_merchants?.note(original, {
      decision: verdict.decision,
      ...(isLease(this.#options.draft, original.action) ? { lease: true as const } : {}),
    });
    const limits = this.#draft_counters.limits(original, counters, shared_budgets, verdict);
    const divergent = divergence(original, verdict, limits);
    if (divergent === null) return;
    this.#diverged.set(original.decision_id, divergent);
    this.#draft_counters.count(null, divergent, original.created_at);
    this.#recount(original.reservation.period, NOTHING, surplusOf(divergent));
  }

  /** How the decisions replayed so far differ. */
  result(): SimulationResult {
    const count = this.#in_other_currency;
    const skipped: SimulationResult['skipped'] = count === 0 ? [] : [{ reason: 'CURRENCY_DIFFERS', count }];
    const { evaluated, ...compared } = this.#counts.result();
    return { evaluated, skipped, ...compared, attention: this.#attention.result() };
  }

  /** Applies the events that happened before a decision was made. */
  #applyEventsBefore(decision_id: string): void {
    const place = decision_id.slice(4);
    for (
      let next = this.#events[this.#next_event];
      next !== undefined && next.place < place;
      next = this.#events[this.#next_event]
    ) {
      this.#next_event += 1;
      this.#drafted_merchants?.apply(next);
      const before = this.#diverged.get(next.decision_id);
      if (before === undefined) continue;
      const after = divergedAfter(before, next.event);
      this.#diverged.set(next.decision_id, after);
      this.#recount(before.real.decision.reservation.period, surplusOf(before), surplusOf(after));
      this.#draft_counters.count(before, after, next.event.at);
    }
  }

  /** Replaces what a decision contributes to the surplus of its month. */
  #recount(period: string, was: BudgetCounter, is: BudgetCounter): void {
    const sum = this.#surplus.get(period) ?? NOTHING;
    this.#surplus.set(period, {
      held_minor: sum.held_minor + is.held_minor - was.held_minor,
      committed_minor: sum.committed_minor + is.committed_minor - was.committed_minor,
    });
  }

  #budgetFor(original: Decision): BudgetCounter {
    const real = counterBefore(original);
    const more = this.#surplus.get(original.reservation.period) ?? NOTHING;
    return {
      held_minor: real.held_minor + more.held_minor,
      committed_minor: real.committed_minor + more.committed_minor,
    };
  }

  /** True if nothing that the assessment depends on has changed since the decision. */
  #isAssessedAsBefore(original: Decision, authority: Authority | null): boolean {
    return (
      this.#hasSameInputs(authority) &&
      this.#isVouchedAsBefore(original) &&
      this.#isAnsweredAsBefore(original)
    );
  }

  #facts({ action }: Decision, chain: readonly Allowance[] | undefined): SpendFacts {
    const { directory, answers } = this.#options;
    const allowances = vouchingAllowances(chain, action);
    return { ...NO_FACTS, listed: directory.listed, answers, allowances };
  }

  #hasSameInputs(authority: Authority | null): boolean {
    if (authority === null) return false;
    const compare = () => assessmentInputs(authority) === this.#draft_inputs;
    return valueIn(this.#has_same_inputs, authority, compare);
  }

  /** Returns true if the answers to what a spend raised are those that it was decided by. */
  #isAnsweredAsBefore({ purpose: { questions = [] } }: Decision): boolean {
    const { answers } = this.#options;
    return questions.every(({ question_id, answered }) => {
      const now = answers.get(question_id);
      return now === undefined
        ? answered === null
        : now.at === answered?.at && now.answer === answered.answer;
    });
  }

  /** Returns true if the merchants listed then vouch for a spend as those listed now do. */
  #isVouchedAsBefore({ action, directory_version: then = 0 }: Decision): boolean {
    const { directory, directoryAtVersion } = this.#options;
    if (then === directory.version) return true;
    if (this.#directory_before?.version !== then) this.#directory_before = directoryAtVersion(then);
    return (
      (vouchingEntry(this.#directory_before, action) === null) === (vouchingEntry(directory, action) === null)
    );
  }

  #isKnown(original: Decision, known: KnownMerchantRow | undefined): boolean {
    const drafted = this.#drafted_merchants;
    if (drafted === null) return false;
    // What replayed decisions made known is the draft's own affair.
    const was_known =
      known !== undefined && known.since <= original.created_at && !drafted.hasReplayed(known.decision_id);
    return was_known || drafted.isKnown(original);
  }
}
