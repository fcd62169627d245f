import type { CountedLimit } from '@purser/contract/limit-standing';
import { BUDGET_THRESHOLDS, shownBudget } from '@purser/rules/counters/shared-budgets';
import { type Origin, SYSTEM } from '@purser/rules/domain/audit';
import type { WorkingSet } from './working-set.ts';

/**
 * Records and publishes the thresholds that a decision reached in its shared budgets, each once a period. `limits`: how the
 * limits stand that it counts in. A report of more than was held reaches none by itself; the next decision tells of it.
 */
export function publishThresholdEvents(
  set: WorkingSet,
  decision_id: string,
  limits: readonly CountedLimit[],
  { request_id, client_address }: Origin,
): void {
  const of_budgets = limits.filter(({ kind }) => kind === 'shared_budget');
  for (const { counter_id: budget_id, ...standing } of of_budgets) {
    const { used_minor, limit_minor, window } = standing;
    for (const percent of BUDGET_THRESHOLDS) {
      const before = set.shared_budgets.find(budget_id);
      if (before === undefined || limit_minor === null || limit_minor === 0) continue;
      const was_told =
        before.told_period === window.starts_at && before.told_percent !== null ? before.told_percent : 0;
      // As whole numbers of any size: what is used and the limit may be as large as numbers are.
      const is_reached = BigInt(used_minor) * 100n >= BigInt(limit_minor) * BigInt(percent);
      if (percent <= was_told || !is_reached) continue;
      const after = { ...before, told_period: window.starts_at, told_percent: percent };
      set.shared_budgets.put(after);
      const event_id = set.audit(
        'budget.threshold.reached',
        { type: 'budget', id: budget_id },
        { actor: SYSTEM, request_id, client_address },
        {
          from: null,
          to: { percent, period: window.starts_at, used_minor, limit_minor },
          state: { shared_budget: after },
        },
      );
      const budget = shownBudget(after, set.shared_budgets.all());
      set.publish(
        'budget.threshold.reached',
        JSON.stringify({ percent, budget, standing, decision_id }),
        event_id,
      );
    }
  }
}
