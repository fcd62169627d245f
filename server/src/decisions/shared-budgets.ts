import { counterChanges } from '../counters/counted-in.ts';
import type { LoadedBudget, SharedBudget } from '../counters/shared-budgets.ts';
import type { Authority } from '../domain/authorities.ts';
import { afterExpiry } from '../domain/decision-states.ts';
import { ApiError } from '../errors.ts';
import { Counters } from '../lane/counters.ts';
import { budgetsProblem } from '../policy/shared-budgets.ts';
import type { Queryable } from '../storage/database.ts';
import { loadCountedDueHolds } from '../storage/decision-states.ts';
import { loadWholeCounters } from '../storage/derived/counters.ts';
import { withoutWorkspace } from '../storage/rows.ts';
import { loadSharedBudgets } from '../storage/shared-budgets.ts';

/**
 * Returns the shared budgets of a workspace with what is in them, in the order of their making. Holds that have expired are not
 * in them, whether the sweep has recorded their expiry or not.
 */
export async function readBudgets(db: Queryable, workspace_id: string): Promise<LoadedBudget[]> {
  const budgets = (await loadSharedBudgets(db, [workspace_id])).map(withoutWorkspace) as SharedBudget[];
  if (budgets.length === 0) return [];
  const wanted = budgets.map(({ budget_id }) => ({ workspace_id, counter_id: budget_id }));
  const counters = new Counters((await loadWholeCounters(db, wanted)).map(withoutWorkspace));
  // These come after the counters: what is released in between is then in both, and counts.
  for (const state of await loadCountedDueHolds(db, workspace_id)) {
    for (const row of counterChanges(state, afterExpiry(state), '')) counters.add(row);
  }
  return budgets.map((budget) => ({
    ...budget,
    slots: counters.slots({ counter_id: budget.budget_id, subject: '' }),
  }));
}

/** Returns the shared budgets of a workspace for a draft that names some; none where it does not. Throws ApiError: `not_found`, `invalid_request`. */
export async function budgetsOfDraft(
  db: Queryable,
  workspace_id: string,
  draft: Authority,
  field_of = '',
): Promise<SharedBudget[]> {
  if (draft.budgets === undefined) return [];
  const all = (await loadSharedBudgets(db, [workspace_id])).map(withoutWorkspace) as SharedBudget[];
  const wrong = budgetsProblem(draft, all);
  if (wrong !== null) throw new ApiError(wrong.code, `${field_of}${wrong.field}: ${wrong.problem}`);
  return all;
}
