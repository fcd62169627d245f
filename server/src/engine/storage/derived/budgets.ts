import type { BudgetRow } from '@purser/rules/domain/budget';
import type { Queryable } from '../database.ts';
import { type InWorkspace, makeInsert } from '../rows.ts';

/**
 * Returns the counters of these agents for this month, for later months (in case the clock was set back), and for
 * every month that still counts an expired hold.
 */
export async function loadBudgets(
  db: Queryable,
  wanted: readonly InWorkspace<{ agent_id: string }>[],
): Promise<InWorkspace<BudgetRow>[]> {
  const result = await db.query<InWorkspace<BudgetRow>>({
    name: 'load_budgets',
    // The extra day covers a month that ends between this statement's clock and the lane's.
    text: `select b.* from unnest($1::text[], $2::text[]) as w(workspace_id, agent_id)
      cross join lateral (
        select workspace_id, agent_id, period, currency, held_minor, committed_minor from budgets
        where workspace_id = w.workspace_id and agent_id = w.agent_id
          and period >= least(
            to_char((clock_timestamp() at time zone 'UTC') - interval '1 day', 'YYYY-MM'),
            (select min(h.period) from expiring_holds h where h.workspace_id = w.workspace_id
              and h.agent_id = w.agent_id and h.expires_at <= clock_timestamp())) collate "C") as b`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.agent_id)],
  });
  return result.rows;
}

/** Returns the currencies in which each of these agents has counters for a month. */
export async function listBudgetCurrencies(
  db: Queryable,
  workspace_id: string,
  agent_ids: readonly string[],
  period: string,
): Promise<{ agent_id: string; currency: string }[]> {
  const result = await db.query<{ agent_id: string; currency: string }>({
    name: 'list_budget_currencies',
    text: `select agent_id, currency from budgets where workspace_id = $1 and agent_id = any($2) and period = $3
      order by agent_id, currency`,
    values: [workspace_id, agent_ids, period],
  });
  return result.rows;
}

/** Returns the counters of these agents, months and currencies without expired holds; missing ones are left out. */
export async function listBudgets(
  db: Queryable,
  workspace_id: string,
  of: readonly { agent_id: string; period: string; currency: string }[],
): Promise<BudgetRow[]> {
  const result = await db.query<BudgetRow & { workspace_id: string }>({
    name: 'list_budgets',
    // Expired holds do not count, whether the sweep has recorded their expiry or not.
    text: `select b.agent_id, b.period, b.currency, b.committed_minor,
        b.held_minor - coalesce((select sum(s.amount_minor) from expiring_holds h
          join decision_states s on s.workspace_id = $1 and s.decision_id = h.decision_id
          where h.workspace_id = $1 and h.agent_id = b.agent_id and h.expires_at <= clock_timestamp()
            and h.period = b.period and s.currency = b.currency), 0)::bigint as held_minor
      from (select distinct * from unnest($2::text[], $3::text[], $4::text[])) as w(agent_id, period, currency)
      cross join lateral (
        select * from budgets b where b.workspace_id = $1 and b.agent_id = w.agent_id and b.period = w.period
          and b.currency = w.currency limit 1) as b`,
    values: [workspace_id, of.map((o) => o.agent_id), of.map((o) => o.period), of.map((o) => o.currency)],
  });
  return result.rows;
}

/** Returns a page of all counters of a workspace as they are stored, after `page.after`, in key order. */
export async function loadAllBudgets(
  db: Queryable,
  workspace_id: string,
  page: { after: Pick<BudgetRow, 'agent_id' | 'period' | 'currency'>; limit: number },
): Promise<BudgetRow[]> {
  const { agent_id, period, currency } = page.after;
  const result = await db.query<BudgetRow & { workspace_id: string }>({
    name: 'load_all_budgets',
    text: `select agent_id, period, currency, held_minor, committed_minor from budgets
      where workspace_id = $1 and (agent_id, period, currency) > ($2, $3, $4)
      order by agent_id, period, currency limit $5`,
    values: [workspace_id, agent_id, period, currency, page.limit],
  });
  return result.rows;
}

/** Inserts new counters and updates existing ones. */
export const putBudgets = makeInsert<BudgetRow>(
  'budgets',
  { agent_id: 'text', period: 'text', currency: 'text', held_minor: 'bigint', committed_minor: 'bigint' },
  {
    conflict: ['agent_id', 'period', 'currency'],
    update: ['held_minor', 'committed_minor'],
    mostly_there: true,
  },
);

/** Returns the counters that these decisions count in; missing ones are left out. */
export async function loadBudgetsOfDecisions(
  db: Queryable,
  wanted: readonly InWorkspace<{ decision_id: string }>[],
): Promise<InWorkspace<BudgetRow>[]> {
  const result = await db.query<InWorkspace<BudgetRow>>({
    name: 'load_budgets_of_decisions',
    text: `select b.workspace_id, b.agent_id, b.period, b.currency, b.held_minor, b.committed_minor
      from (select distinct d.workspace_id, d.agent_id, d.currency,
          to_char(d.created_at at time zone 'UTC', 'YYYY-MM') as period
        from unnest($1::text[], $2::text[]) as w(workspace_id, decision_id)
        cross join lateral (
          select * from decisions where workspace_id = w.workspace_id and decision_id = w.decision_id limit 1) as d) as d
      cross join lateral (
        select * from budgets b where b.workspace_id = d.workspace_id and b.agent_id = d.agent_id
          and b.period = d.period collate "C" and b.currency = d.currency collate "C" limit 1) as b`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.decision_id)],
  });
  return result.rows;
}
