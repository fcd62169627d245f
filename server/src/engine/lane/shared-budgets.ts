import type { SharedBudget } from '@purser/rules/counters/shared-budgets';

/** The shared budgets of one workspace, in a batch. A command sees the changes of those before it, and must need `shared_budgets`. */
export class SharedBudgets {
  /** By id: what the lane writes. */
  readonly changes = new Map<string, SharedBudget>();
  readonly #noteChange: () => void;
  #budgets: readonly SharedBudget[];

  constructor(budgets: readonly SharedBudget[], noteChange: () => void) {
    this.#budgets = budgets;
    this.#noteChange = noteChange;
  }

  all(): readonly SharedBudget[] {
    return this.#budgets;
  }

  /** Returns a budget by id or slug. */
  find(ref: string): SharedBudget | undefined {
    return this.#budgets.find(({ budget_id, slug }) => budget_id === ref || slug === ref);
  }

  put(budget: SharedBudget): void {
    const others = this.#budgets.filter(({ budget_id }) => budget_id !== budget.budget_id);
    this.#budgets = [...others, budget];
    this.changes.set(budget.budget_id, budget);
    this.#noteChange();
  }
}
