import type { SharedBudget } from '@purser/rules/counters/shared-budgets';
import type { Queryable } from './database.ts';
import { type InWorkspace, makeInsert } from './rows.ts';

const COLUMNS = `budget_id, slug, name, currency, period, time_zone, limit_minor, parent_id, status, alert_percents, told_period, told_percent, created_at, updated_at`;

/** Returns all shared budgets of these workspaces, in the order of their making. */
export async function loadSharedBudgets(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<InWorkspace<SharedBudget>[]> {
  const result = await db.query<InWorkspace<SharedBudget>>({
    name: 'load_shared_budgets',
    text: `select workspace_id, ${COLUMNS} from shared_budgets where workspace_id = any($1) order by budget_id`,
    values: [workspace_ids],
  });
  return result.rows;
}

/** Inserts budgets and updates those that were changed; what is fixed for good stays as it is. */
export const putSharedBudgets = makeInsert<SharedBudget>(
  'shared_budgets',
  {
    budget_id: 'text',
    slug: 'text',
    name: 'text',
    currency: 'text',
    period: 'text',
    time_zone: 'text',
    limit_minor: 'bigint',
    parent_id: 'text',
    status: 'text',
    alert_percents: 'text',
    told_period: 'timestamptz',
    told_percent: 'integer',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  },
  {
    conflict: ['budget_id'],
    update: ['name', 'limit_minor', 'status', 'alert_percents', 'told_period', 'told_percent', 'updated_at'],
  },
);
