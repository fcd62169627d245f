import type { SharedBudget } from '@purser/rules/counters/shared-budgets';
import { type Command, done, refuse } from '../../lane/command.ts';
import { auditedBudget } from './create-budget.ts';

export interface UpdateBudgetInput {
  /** Id or slug. */
  budget: string;
  changes: Partial<Pick<SharedBudget, 'name' | 'limit_minor' | 'status'>> & {
    alert_percents?: readonly number[];
  };
}

/**
 * Changes a shared budget's name, limit, alert percentages or status, from the next decision on. A limit under what is used lets nothing more
 * through and takes nothing back. Without a difference nothing is written.
 */
export const updateBudget: Command<UpdateBudgetInput, SharedBudget> = {
  name: 'updateBudget',
  needs: () => ({ shared_budgets: [] }),
  apply(set, { budget: ref, changes }, origin) {
    const before = set.shared_budgets.find(ref);
    if (before === undefined) return refuse('not_found', 'No such shared budget.');
    const { alert_percents: percents, ...others } = changes;
    const alert_percents = percents === undefined ? before.alert_percents : JSON.stringify(percents);
    const after: SharedBudget = { ...before, ...others, alert_percents, updated_at: set.now };
    const [from, to] = [auditedBudget(before), auditedBudget(after)];
    if (JSON.stringify(from) === JSON.stringify(to)) return done(before);
    set.shared_budgets.put(after);
    const target = { type: 'budget', id: after.budget_id } as const;
    set.audit('budget.updated', target, origin, { from, to, state: { shared_budget: after } });
    return done(after);
  },
};
