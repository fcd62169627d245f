import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import type { CountedLimit } from '@purser/contract/limit-standing';
import { counterChanges } from '@purser/rules/counters/counted-in';
import type { CountedSlot, CounterRow } from '@purser/rules/counters/counters';
import { Counters } from '@purser/rules/counters/counters-in-memory';
import type { LoadedBudget, SharedBudget } from '@purser/rules/counters/shared-budgets';
import type { DecisionHistory } from '@purser/rules/domain/decision-history';
import {
  type CountersOf,
  countersOf,
  DUPLICATES,
  isFormerRelease,
  type LoadedCounter,
  type SpendCounter,
  withSlots,
} from '@purser/rules/policy/counters';
import type { Verdict } from '@purser/rules/policy/decide';
import { countedLimits, loadedBudgets } from '@purser/rules/policy/shared-budgets';

/** A decision's states: under the draft (null if only the draft denied it), and in reality. */
interface Both {
  drafted: DecisionHistory | null;
  real: DecisionHistory;
  /** The most that would have been spent under the draft. */
  max_minor: number;
}

/**
 * The counters of a replay. What a decision really counted in stands in it as it was then; for such a counter only what the
 * draft counts more or less than that is added. Any other counter is the draft's own, and fills as the replay goes.
 */
export class DraftCounters {
  readonly #draft: Authority;
  readonly #budgets: readonly SharedBudget[];
  readonly #own = new Counters([]);
  readonly #surplus = new Counters([]);

  /** `budgets`: the shared budgets of the workspace, where the draft names some. */
  constructor(draft: Authority, budgets: readonly SharedBudget[] = []) {
    this.#draft = draft;
    this.#budgets = budgets;
  }

  /** The counters of a decision under the draft, as they are before it. */
  before(original: Decision): CountersOf<LoadedCounter> {
    const { limits = [] } = original.reservation;
    return withSlots(countersOf(this.#draft, original.agent.id, original.action), (counter, name) => {
      const then = limits.find((each) => isOf(each, counter));
      if (then !== undefined) return [usedBefore(original, then), ...this.#surplus.slots(counter)];
      // The draft may take less of an earlier release's counter. The difference is subtracted from the present counter.
      if (isFormerRelease(name)) return this.#surplus.slots(counter);
      const is_known = limits.some(({ counter_id }) => counter_id === counter.counter_id);
      if (name !== DUPLICATES.unnamed || !is_known) return this.#own.slots(counter);
      return [...unnamedBefore(original, limits), ...this.#surplus.slots(counter)];
    });
  }

  /**
   * The shared budgets of a decision under the draft. One that the decision counted in is as it was then: what others had spent
   * of it, its limit, and whether it was frozen. Of any other one there is what the draft itself spends of it, and its limit is
   * that of now.
   */
  budgetsBefore(original: Decision): readonly LoadedBudget[] {
    const { limits = [] } = original.reservation;
    return loadedBudgets(this.#draft.budgets ?? [], this.#budgets, this.#own).map((budget): LoadedBudget => {
      const counter = { counter_id: budget.budget_id, subject: '' };
      const then = limits.find(({ counter_id }) => counter_id === budget.budget_id);
      if (then === undefined) return budget;
      const was_frozen = original.policy_trace.some(
        ({ stage, name, reason_code }) =>
          stage === 'shared_budget' && name === budget.slug && reason_code === 'BUDGET_FROZEN',
      );
      return {
        ...budget,
        limit_minor: then.limit_minor as number,
        status: was_frozen ? 'frozen' : 'active',
        slots: [usedBefore(original, then), ...this.#surplus.slots(counter)],
      };
    });
  }

  /** The limits that a decision counts in under the draft; undefined where the draft has none for it. */
  limits(
    original: Decision,
    counters: CountersOf<LoadedCounter>,
    budgets: readonly LoadedBudget[],
    { decision, held_amount_minor: amount_minor }: Pick<Verdict, 'decision' | 'held_amount_minor'>,
  ): CountedLimit[] | undefined {
    if (counters.size + budgets.length === 0) return undefined;
    const own = { count: decision === 'DENY' ? 0 : 1, amount_minor };
    return countedLimits({ counters, shared_budgets: budgets, now_ms: Date.parse(original.created_at) }, own);
  }

  /** Counts what became of a decision by something that happened at `at`; `before` null: it was made. */
  count(before: Both | null, after: Both, at: string): void {
    const drafted = this.#changes(before?.drafted ?? null, after.drafted, at, after.max_minor);
    const real = this.#changes(before?.real ?? null, after.real, at, Number.MAX_SAFE_INTEGER);
    for (const row of drafted) {
      this.#own.add(row);
      this.#surplus.add(row);
    }
    for (const row of real) {
      const { count, held_minor, committed_minor } = row;
      this.#surplus.add({
        ...row,
        count: -count,
        held_minor: -held_minor,
        committed_minor: -committed_minor,
        decision_id: null,
      });
    }
  }

  #changes(
    before: DecisionHistory | null,
    after: DecisionHistory | null,
    at: string,
    max_minor: number,
  ): CounterRow[] {
    if (after === null) return [];
    const atMost = ({ state }: DecisionHistory) => ({
      ...state,
      amount_minor: Math.min(state.amount_minor, max_minor),
      paced_minor: Math.min(state.paced_minor, max_minor),
    });
    return counterChanges(before === null ? null : atMost(before), atMost(after), at);
  }
}

function isOf(limit: CountedLimit, { counter_id, subject }: SpendCounter): boolean {
  return limit.counter_id === counter_id && (limit.subject ?? '') === subject;
}

/** The decision that a spend was told it repeats. */
function toldOf({ policy_trace }: Decision): string | null {
  const found = policy_trace.find(({ stage }) => stage === 'duplicate');
  return found?.reason_code === 'DUPLICATE_SPEND' ? String(found.observed) : null;
}

/** The real contents of a counter before a decision, from its response. */
function usedBefore(original: Decision, limit: CountedLimit): CountedSlot {
  const own = original.reservation.status === 'HELD' ? 1 : 0;
  return {
    starts_ms: Date.parse(limit.window.starts_at),
    until_ms: Date.parse(limit.window.ends_at),
    count: limit.used_count - own,
    amount_minor: limit.used_minor - own * original.reservation.amount_minor,
    decision_id: toldOf(original),
  };
}

/** Duplicates without payee are told of, but not counted in: one was there where no other can have been told of. */
function unnamedBefore(original: Decision, limits: readonly CountedLimit[]): CountedSlot[] {
  const told = toldOf(original);
  const own = original.reservation.status === 'HELD' ? 1 : 0;
  const among_own = limits.some(
    ({ kind, subject, used_count }) => kind === 'duplicate' && subject?.includes(':', 2) && used_count > own,
  );
  if (told === null || among_own) return [];
  const [limit] = limits as [CountedLimit];
  const { starts_at, ends_at } = limit.window;
  const slot = { starts_ms: Date.parse(starts_at), until_ms: Date.parse(ends_at) };
  return [{ ...slot, count: 1, amount_minor: 0, decision_id: told }];
}
