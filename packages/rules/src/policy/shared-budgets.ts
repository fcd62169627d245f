import type { Authority } from '@purser/contract/authority';
import { utcTime } from '@purser/contract/calendar';
import type { ErrorCode } from '@purser/contract/errors';
import type { CountedLimit } from '@purser/contract/limit-standing';
import { type CountedSlot, type CounterKey, fitsFrom, useAt } from '../counters/counters.ts';
import {
  budgetsOf,
  budgetWindow,
  type LoadedBudget,
  periodName,
  type SharedBudget,
} from '../counters/shared-budgets.ts';
import { writtenSlotAt } from '../counters/windows.ts';
import { PHRASES, POLICY } from '../sentences/policy.ts';
import { formatMoney } from '../values/money.ts';
import { allowanceStandings } from './allowances.ts';
import { NO_COUNTERS, standingsOf } from './counters.ts';
import {
  type DecideFacts,
  type Judge,
  type JudgesOf,
  leastAccepted,
  NO_JUDGES,
  named,
  sameCurrencyOnly,
} from './stage.ts';

/** The shared budgets with these slugs and all above them, with what is in them. */
export function loadedBudgets(
  slugs: readonly string[],
  all: readonly SharedBudget[],
  counters: { slots(counter: CounterKey): readonly CountedSlot[] },
): readonly LoadedBudget[] {
  return budgetsOf(slugs, all).map((budget) => ({
    slots: counters.slots({ counter_id: budget.budget_id, subject: '' }),
    ...budget,
  }));
}

/** The problem with the shared budgets of an authority, which no schema can check; null if there is none. */
export function budgetsProblem(
  { budgets = [], currency }: Pick<Authority, 'budgets' | 'currency'>,
  all: readonly SharedBudget[],
): { code: ErrorCode; field: string; problem: string } | null {
  for (const [i, slug] of budgets.entries()) {
    const field = `budgets[${i}]`;
    const found = all.find((budget) => budget.slug === slug);
    if (found === undefined) return { code: 'not_found', field, problem: 'no such shared budget' };
    if (found.currency !== currency) {
      const problem = `is in ${found.currency}, but the authority is in ${currency}`;
      return { code: 'invalid_request', field, problem };
    }
  }
  return null;
}

/** `shared_budget`: what several agents may spend together; one judge for each budget that the spend counts in. */
export const judgeSharedBudgets: JudgesOf = ({ budgets }, { shared_budgets }) => {
  if (budgets === undefined && shared_budgets === undefined) return NO_JUDGES;
  // Nothing may pass because nobody looked how much it was already.
  if (shared_budgets === undefined) throw new Error('the shared budgets of the authority were not loaded');
  return shared_budgets.map(judgeOf);
};

function judgeOf(budget: LoadedBudget): Judge {
  const { slug: name, limit_minor: limit, slots } = budget;
  const judge = sameCurrencyOnly((_authority, { request, now_ms }, amount_minor) => {
    const { currency, amount_minor: requested_minor } = request.action;
    const money = (minor: number) => formatMoney(minor, currency);
    const period = periodName(budgetWindow(budget), now_ms);
    const the_budget = period === '' ? PHRASES.shared_budget(name) : PHRASES.shared_budget_for(name, period);
    const { amount_minor: used } = useAt(slots, now_ms);
    const left = Math.max(0, limit - used);
    const observed = Math.min(used + amount_minor, Number.MAX_SAFE_INTEGER);
    if (budget.status === 'frozen') {
      const detail = POLICY.frozen(name);
      return { outcome: 'DENY', reason_code: 'BUDGET_FROZEN', observed, limit, detail };
    }
    if (amount_minor <= left) {
      const remaining = money(left - amount_minor);
      const detail = POLICY.within_shared(money(amount_minor), the_budget, remaining, money(limit));
      return { outcome: 'PASS', observed, limit, detail };
    }
    const least = leastAccepted(request);
    const ends_ms = fitsFrom(slots, now_ms, (later) => later.amount_minor + least <= limit);
    // All time has no end after which there is room again.
    const ends = ends_ms === null || budget.period === 'TOTAL' ? {} : { ends_ms };
    const requested = money(requested_minor);
    if (request.limitable === true && left > 0) {
      const detail = POLICY.reduced_to_shared(requested, money(left), the_budget);
      const reason_code = 'AMOUNT_LIMITED';
      return { outcome: 'LIMIT', reason_code, capped_minor: left, observed, limit, detail, ...ends };
    }
    const detail = [
      left === 0
        ? POLICY.shared_used_up(requested, the_budget)
        : POLICY.over_shared(requested, money(left), the_budget),
      ...('ends_ms' in ends ? [POLICY.room_again(utcTime(ends.ends_ms))] : []),
    ].join(' ');
    const reason_code = 'BUDGET_EXCEEDED';
    return { outcome: 'DENY', reason_code, observed, limit, detail, room_minor: left, ...ends };
  });
  return named(name, judge);
}

/** How shared budgets stand at a moment. `own` is what a decision adds that is made then; left out: no more than is in them. */
export function budgetStandings(
  budgets: readonly LoadedBudget[],
  now_ms: number,
  own = { count: 0, amount_minor: 0 },
): CountedLimit[] {
  return budgets.map((budget) => {
    const { budget_id: counter_id, slug: name, limit_minor, slots } = budget;
    const use = useAt(slots, now_ms);
    const used_minor = Math.min(use.amount_minor + own.amount_minor, Number.MAX_SAFE_INTEGER);
    return {
      name,
      kind: 'shared_budget',
      subject: null,
      window: writtenSlotAt(budgetWindow(budget), now_ms),
      limit_minor,
      used_minor,
      held_minor: Math.min(use.held_minor + own.amount_minor, Number.MAX_SAFE_INTEGER),
      remaining_minor: Math.max(0, limit_minor - used_minor),
      limit_count: null,
      used_count: use.count + own.count,
      counted_since: null,
      counter_id,
    };
  });
}

/** The standing of everything that a spend counts in under an authority: its limits over time, its shared budgets, then its allowances. */
export function countedLimits(
  {
    counters = NO_COUNTERS,
    shared_budgets = [],
    allowances = [],
    now_ms,
  }: Pick<DecideFacts, 'counters' | 'shared_budgets' | 'allowances' | 'now_ms'>,
  own: { count: number; amount_minor: number },
): CountedLimit[] {
  return standingsOf(counters, now_ms, own).concat(
    budgetStandings(shared_budgets, now_ms, own),
    allowanceStandings(allowances, now_ms, own),
  );
}
