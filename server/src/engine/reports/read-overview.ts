import type { Agent } from '@purser/rules/domain/agents';
import { summedAmount } from '@purser/rules/values/money';
import type pg from 'pg';
import { loadAgents } from '../storage/agents.ts';
import type { Client, Queryable } from '../storage/database.ts';
import { inTransaction } from '../storage/transactions.ts';
import { loadMerchantCounters, loadOverviewCounters } from './counter-rows.ts';
import { ALL_AGENTS, type ReportCounter } from './counters.ts';
import { countDirectly, wholeDays } from './period-counters.ts';
import { MAX_MERCHANTS } from './read-shadow-report.ts';
import { byBytes, type CurrencyCount } from './shadow-report.ts';

/** The reviews pending now. */
export interface PendingReviews {
  count: number;
  /** As requested, by currency. */
  amounts: CurrencyCount[];
  /** When the first of them runs out; null: none does. */
  next_expires_at: string | null;
}

/** Everything that an overview is made of, from one snapshot. */
export interface OverviewSources {
  counters: ReportCounter[];
  /** By id: the agents of the counters. */
  agents: Map<string, Agent>;
  pending_reviews: PendingReviews;
}

/** Loads the pending reviews of all agents or of one. Reads no other decision. */
async function loadPendingReviews(
  db: Queryable,
  workspace_id: string,
  agent_id: string | null,
): Promise<PendingReviews> {
  const result = await db.query<{
    currency: string;
    count: number;
    amount_minor: string;
    next_expires_at: string | null;
  }>({
    name: 'load_pending_reviews',
    text: `select d.currency, count(*) as count, sum(d.requested_amount_minor)::text as amount_minor,
        min(s.expires_at) as next_expires_at
      from decision_states s
      cross join lateral (
        select currency, requested_amount_minor from decisions d
        where d.workspace_id = $1 and d.decision_id = s.decision_id limit 1) as d
      where s.workspace_id = $1 and s.review_state = 'PENDING' and ($2::text is null or s.agent_id = $2)
        and coalesce(s.expires_at, '9999-12-31 00:00:00+00'::timestamptz) > (select clock_timestamp())
      group by d.currency`,
    values: [workspace_id, agent_id],
  });
  const amounts = result.rows
    .map(({ currency, count, amount_minor }) => ({
      currency,
      count,
      ...summedAmount(BigInt(amount_minor)),
    }))
    .sort((a, b) => byBytes(a.currency, b.currency));
  return {
    count: amounts.reduce((sum, { count }) => sum + count, 0),
    amounts,
    next_expires_at: result.rows.flatMap((row) => row.next_expires_at ?? []).sort()[0] ?? null,
  };
}

/**
 * Loads the sources of an overview of the decisions made from `from` up to, but not including, `to` (ISO UTC), from one
 * snapshot; exact, as a report. `agent_id` null means all agents. Throws `unavailable` where the follower is too far behind.
 */
export async function loadOverviewSources(
  pool: pg.Pool,
  workspace_id: string,
  options: { agent_id: string | null; from: string; to: string },
): Promise<OverviewSources> {
  const { agent_id } = options;
  const period = wholeDays(Date.parse(options.from), Date.parse(options.to));
  return inTransaction(pool, { reading: true }, async (client: Client) => {
    const counters = await countDirectly(client, workspace_id, { agent_id, ...period });
    if (period.days !== null) {
      const range = { slice: agent_id ?? ALL_AGENTS, ...period.days };
      const merchants = {
        measures: ['merchants', 'enforced_merchants'] as const,
        max: MAX_MERCHANTS,
        counted: counters,
      };
      counters.push(
        ...(await loadOverviewCounters(client, workspace_id, range)),
        ...(await loadMerchantCounters(client, workspace_id, range, merchants)),
      );
    }
    const agent_ids = new Set(
      counters.flatMap(({ measure, name }) => (/(^|_)agents$/.test(measure) ? name : [])),
    );
    if (agent_id !== null) agent_ids.add(agent_id);
    const agents = await loadAgents(client, workspace_id, [...agent_ids]);
    return {
      counters,
      agents: new Map(agents.map((agent) => [agent.agent_id, agent])),
      pending_reviews: await loadPendingReviews(client, workspace_id, agent_id),
    };
  });
}
