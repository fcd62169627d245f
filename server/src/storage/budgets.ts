import type { BudgetRow } from '../domain/budget.ts';
import type { Queryable } from './database.ts';
import { makeInsert, type Of } from './rows.ts';

/**
 * The counters of these agents for this month, for later ones (should the clock have stood further on before),
 * and for every month of a hold that has run out.
 */
export async function loadBudgets(
  db: Queryable,
  wanted: readonly Of<{ agent_id: string }>[],
): Promise<Of<BudgetRow>[]> {
  const result = await db.query<Of<BudgetRow>>({
    name: 'load_budgets',
    // A day back covers the turn of the month between this statement's clock and the lane's.
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

/** The counters of these agents, months and currencies; what does not exist is left out. */
export async function listBudgets(
  db: Queryable,
  workspace_id: string,
  of: readonly { agent_id: string; period: string; currency: string }[],
): Promise<BudgetRow[]> {
  const result = await db.query<BudgetRow & { workspace_id: string }>({
    name: 'list_budgets',
    // Holds that have run out count no more, whether they were swept yet or not.
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

/** Every counter of a workspace as it is kept, after the one named, in the order of its key. */
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

/** Writes counters, new or changed. */
export const putBudgets = makeInsert<BudgetRow>(
  'budgets',
  { agent_id: 'text', period: 'text', currency: 'text', held_minor: 'bigint', committed_minor: 'bigint' },
  { conflict: ['agent_id', 'period', 'currency'], update: ['held_minor', 'committed_minor'] },
);

/** The counters that these decisions count in; what does not exist is left out. */
export async function loadBudgetsOfDecisions(
  db: Queryable,
  wanted: readonly Of<{ decision_id: string }>[],
): Promise<Of<BudgetRow>[]> {
  const result = await db.query<Of<BudgetRow>>({
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
