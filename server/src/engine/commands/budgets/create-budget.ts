import { MAX_BUDGET_DEPTH, MAX_BUDGETS } from '@purser/contract/values/budgets';
import { alertPercentsOf, budgetChain, type SharedBudget } from '@purser/rules/counters/shared-budgets';
import { type Command, done, refuse } from '../../lane/command.ts';

export interface CreateBudgetInput
  extends Pick<SharedBudget, 'slug' | 'currency' | 'period' | 'limit_minor'>,
    Partial<Pick<SharedBudget, 'name' | 'time_zone'>> {
  alert_percents?: readonly number[];
  /** Id or slug of the budget that it is a part of. */
  parent?: string;
}

/** A shared budget as the audit list shows it. */
export function auditedBudget(budget: SharedBudget) {
  const { name, limit_minor, status } = budget;
  return { name, limit_minor, status, alert_percents: alertPercentsOf(budget) };
}

/** Creates a shared budget. Everything of it but name, limit and status is fixed for good. */
export const createBudget: Command<CreateBudgetInput, SharedBudget> = {
  name: 'createBudget',
  needs: () => ({ shared_budgets: [] }),
  apply(set, input, origin) {
    const { slug, currency, period, limit_minor, name = slug, time_zone = 'UTC' } = input;
    const all = set.shared_budgets.all();
    if (all.some((each) => each.slug === slug)) {
      return refuse(
        'budget_exists',
        `A shared budget with the slug "${slug}" already exists; choose another slug.`,
      );
    }
    if (all.length >= MAX_BUDGETS) {
      return refuse('budget_limit', `The workspace has reached its limit of ${all.length} shared budgets.`);
    }
    const parent = input.parent === undefined ? null : set.shared_budgets.find(input.parent);
    if (parent === undefined) return refuse('not_found', 'parent: no such shared budget.');
    if (parent !== null && parent.currency !== currency) {
      return refuse('invalid_request', `parent: is in ${parent.currency}, but this budget is in ${currency}`);
    }
    if (parent !== null && budgetChain(parent.slug, all).length >= MAX_BUDGET_DEPTH) {
      return refuse(
        'invalid_request',
        `parent: has ${MAX_BUDGET_DEPTH - 1} parents already; budgets cannot nest deeper`,
      );
    }
    const budget: SharedBudget = {
      budget_id: set.newId('budget'),
      slug,
      name,
      currency,
      period,
      time_zone,
      limit_minor,
      parent_id: parent?.budget_id ?? null,
      status: 'active',
      alert_percents: input.alert_percents === undefined ? null : JSON.stringify(input.alert_percents),
      told_period: null,
      told_percent: null,
      created_at: set.now,
      updated_at: set.now,
    };
    set.shared_budgets.put(budget);
    set.audit('budget.created', { type: 'budget', id: budget.budget_id }, origin, {
      from: null,
      to: {
        slug,
        ...auditedBudget(budget),
        currency,
        period,
        time_zone,
        ...(parent === null ? {} : { parent: parent.slug }),
      },
      state: { shared_budget: budget },
    });
    return done(budget);
  },
};
