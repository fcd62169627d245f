import type { Allowance, AllowanceStatus } from '@purser/rules/counters/allowances';
import type { Queryable } from '../storage/database.ts';
import { Parameters } from '../storage/pages.ts';
import { ALLOWANCE_COLUMNS } from './allowance-rows.ts';

/** The filters of the list; those left out do not filter. */
export interface AllowanceFilters {
  agent_id?: string;
  budget_id?: string;
  parent_id?: string;
  status?: readonly AllowanceStatus[];
  automatic?: boolean;
  label?: { key: string; value: string };
  external_id?: string;
  issuer_id?: string;
  /** The agent of an agent key, which sees the allowances that its agent may use. */
  visible_to?: string;
  /** The allowance of a key that is bound to it, which sees that one and those below. */
  within?: string;
}

/** An allowance with what people know it by beside its own row. */
export interface FoundAllowance extends Allowance {
  agent_slug: string | null;
  budget_slug: string | null;
  last_used_at: string | null;
}

/** SQL of the status of an allowance `a` now, as `allowanceStatusAt` judges it by what the counter holds. */
export const STATUS_NOW = `case when a.status in ('DENIED', 'REVOKED') then a.status
  when case when a.status = 'REQUESTED' then a.decide_by else a.expires_at end <= (select clock_timestamp()) then 'EXPIRED'
  when a.status = 'REQUESTED' or a.period <> 'TOTAL' then a.status
  when exists (select from counters c where c.workspace_id = a.workspace_id and c.counter_id = a.allowance_id
    and c.subject = '' and (c.held_minor + c.committed_minor >= a.amount_minor or c.count >= a.max_count)) then 'EXHAUSTED'
  else a.status end`;

/** Returns a page of the allowances that all filters let through, newest first. */
export async function findAllowances(
  db: Queryable,
  workspace_id: string,
  filters: AllowanceFilters,
  page: { before: string | null; limit: number },
): Promise<FoundAllowance[]> {
  const parameters = new Parameters();
  parameters.add(workspace_id);
  const conditions = ['a.workspace_id = $1'];
  const narrow = (value: unknown, condition: (parameter: string) => string) => {
    if (value !== undefined && value !== null) conditions.push(condition(parameters.add(value)));
  };
  narrow(page.before, (p) => `a.allowance_id < ${p}`);
  narrow(filters.agent_id, (p) => `a.agent_id = ${p} and a.agent_id <> ''`);
  narrow(filters.visible_to, (p) => `(a.agent_id = ${p} or a.agent_id is null)`);
  narrow(filters.within, (p) => `${p} = any(a.path)`);
  narrow(filters.budget_id, (p) => `a.budget_id = ${p} and a.budget_id <> ''`);
  narrow(filters.parent_id, (p) => `a.parent_id = ${p} and a.parent_id <> ''`);
  narrow(filters.status, (p) => `${STATUS_NOW} = any(${p}::text[])`);
  narrow(filters.automatic, (p) => `a.automatic = ${p}`);
  narrow(filters.external_id, (p) => `a.external_id = ${p} and a.external_id <> ''`);
  narrow(filters.issuer_id, (p) => `a.issuer_id = ${p}`);
  if (filters.label !== undefined) {
    const [key, value] = [parameters.add(filters.label.key), parameters.add(filters.label.value)];
    conditions.push(`exists (select from allowance_labels l where l.workspace_id = $1 and l.key = ${key}
      and l.value = ${value} and l.allowance_id = a.allowance_id)`);
  }
  return found(
    db,
    conditions,
    parameters,
    `order by a.allowance_id desc limit ${parameters.add(page.limit)}`,
  );
}

/** Returns these allowances; unknown ones are left out. */
export function readAllowances(
  db: Queryable,
  workspace_id: string,
  allowance_ids: readonly string[],
): Promise<FoundAllowance[]> {
  const parameters = new Parameters();
  const conditions = [
    `a.workspace_id = ${parameters.add(workspace_id)}`,
    `a.allowance_id = any(${parameters.add(allowance_ids)}::text[])`,
  ];
  return found(db, conditions, parameters, 'order by a.allowance_id');
}

async function found(
  db: Queryable,
  conditions: readonly string[],
  { values }: Parameters,
  end: string,
): Promise<FoundAllowance[]> {
  const result = await db.query<FoundAllowance & { workspace_id: string }>({
    text: `select ${ALLOWANCE_COLUMNS}, g.slug as agent_slug, b.slug as budget_slug, u.created_at as last_used_at
      from allowances a
      left join agents g on g.workspace_id = a.workspace_id and g.agent_id = a.agent_id
      left join shared_budgets b on b.workspace_id = a.workspace_id and b.budget_id = a.budget_id
      left join lateral (select d.created_at from allowance_decisions k
        join decisions d on d.workspace_id = k.workspace_id and d.decision_id = k.decision_id
        where k.workspace_id = a.workspace_id and k.allowance_id = a.allowance_id
        order by k.decision_id desc limit 1) as u on true
      where ${conditions.join(' and ')} ${end}`,
    values,
  });
  return result.rows;
}
