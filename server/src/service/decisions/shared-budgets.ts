import type { Authority } from '@purser/contract/authority';
import { counterChanges } from '@purser/rules/counters/counted-in';
import { Counters } from '@purser/rules/counters/counters-in-memory';
import type { LoadedBudget, SharedBudget } from '@purser/rules/counters/shared-budgets';
import { afterExpiry } from '@purser/rules/domain/decision-states';
import { ApiError } from '@purser/rules/errors';
import { budgetsProblem } from '@purser/rules/policy/shared-budgets';
import type { Queryable } from '../../engine/storage/database.ts';
import { loadCountedDueHolds } from '../../engine/storage/decision-states.ts';
import { loadWholeCounters } from '../../engine/storage/derived/counters.ts';
import { withoutWorkspace } from '../../engine/storage/rows.ts';
import { loadSharedBudgets } from '../../engine/storage/shared-budgets.ts';

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
