import type { Agent } from '@purser/rules/domain/agents';
import { type BudgetStatus, budgetStatus, periodOf } from '@purser/rules/domain/budget';
import { listLastDecisions } from '../../engine/storage/agents.ts';
import { loadAuthoritiesOf } from '../../engine/storage/authorities.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { listBudgetCurrencies, listBudgets } from '../../engine/storage/derived/budgets.ts';
import { readClock } from '../../engine/storage/workspaces.ts';

/** How an agent stands now. */
export interface AgentStanding {
  /** This month's (UTC): of its authority's currency first, then of all others that were spent in. */
  budgets: ({ currency: string } & BudgetStatus)[];
  /** When it last asked for a spend; null: never. */
  last_decision_at: string | null;
}

const NOTHING_COUNTED = { held_minor: 0, committed_minor: 0 };
const nameOf = (agent_id: string, currency: string) => `${agent_id} ${currency}`;

/** How these agents of a workspace stand, in the order given. A few look-ups by key, however many decisions there are. */
export async function loadAgentStandings(
  db: Queryable,
  workspace_id: string,
  agents: readonly Agent[],
): Promise<AgentStanding[]> {
  if (agents.length === 0) return [];
  const ids = agents.map(({ agent_id }) => agent_id);
  const period = periodOf(await readClock(db));
  const authorities = await loadAuthoritiesOf(db, workspace_id, agents);
  const spent_in = await listBudgetCurrencies(db, workspace_id, ids, period);
  const last = new Map(
    (await listLastDecisions(db, workspace_id, ids)).map((row) => [row.agent_id, row.created_at]),
  );
  const currencies = new Map(
    ids.map((id) => {
      const own = authorities.get(id)?.currency;
      const others = spent_in.filter(({ agent_id }) => agent_id === id).map(({ currency }) => currency);
      return [id, [...new Set([...(own === undefined ? [] : [own]), ...others])]];
    }),
  );
  const counters = new Map(
    (
      await listBudgets(
        db,
        workspace_id,
        [...currencies].flatMap(([agent_id, of]) => of.map((currency) => ({ agent_id, period, currency }))),
      )
    ).map((counter) => [nameOf(counter.agent_id, counter.currency), counter]),
  );
  return ids.map((id) => ({
    budgets: (currencies.get(id) ?? []).map((currency) => {
      const authority = authorities.get(id);
      const limit = authority?.currency === currency ? (authority.monthly_budget_minor ?? null) : null;
      const counter = counters.get(nameOf(id, currency)) ?? NOTHING_COUNTED;
      return { currency, ...budgetStatus(counter, limit) };
    }),
    last_decision_at: last.get(id) ?? null,
  }));
}
