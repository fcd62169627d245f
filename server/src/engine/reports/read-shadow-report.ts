import { MAX_MERCHANTS } from '@purser/contract/values/reports';
import type { Agent } from '@purser/rules/domain/agents';
import type { DecisionKind } from '@purser/rules/domain/decisions';
import type { Workspace } from '@purser/rules/domain/workspace';
import type pg from 'pg';
import { loadAgents } from '../storage/agents.ts';
import type { Client, Queryable } from '../storage/database.ts';
import { inTransaction } from '../storage/transactions.ts';
import { loadWorkspace } from '../storage/workspaces.ts';
import { loadCounters, loadMerchantCounters } from './counter-rows.ts';
import { ALL_AGENTS, newestByReason, type ReportCounter } from './counters.ts';
import { countDirectly, wholeDays } from './period-counters.ts';

export { MAX_MERCHANTS };

/** A decision as an example of a reason. */
export interface ReportExample {
  decision_id: string;
  agent_id: string;
  decision: DecisionKind;
  merchant: string;
  requested_amount_minor: number;
  currency: string;
  created_at: string;
}

/** Everything that a report is made of, from one snapshot. */
export interface ReportSources {
  counters: ReportCounter[];
  /** By id: the agents of the counters, and the requested one. */
  agents: Map<string, Agent>;
  examples: Map<string, ReportExample>;
  workspace: Workspace;
}

async function loadExamples(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<ReportExample[]> {
  const result = await db.query<ReportExample & { workspace_id: string }>({
    name: 'load_report_examples',
    text: `select decision_id, agent_id, decision, merchant, requested_amount_minor, currency, created_at
      from decisions where workspace_id = $1 and decision_id = any($2)`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}

/**
 * Loads the sources of a report on the decisions made from `from` up to, but not including, `to` (ISO UTC), from one
 * snapshot. The result is exact: events after the watermark are aggregated at read time. `agent_id` null means all agents.
 * Undefined where the workspace does not exist. Throws `unavailable` where the follower is too far behind.
 */
export async function loadReportSources(
  pool: pg.Pool,
  workspace_id: string,
  options: { agent_id: string | null; from: string; to: string },
): Promise<ReportSources | undefined> {
  const { agent_id } = options;
  const { days, rest } = wholeDays(Date.parse(options.from), Date.parse(options.to));
  const slice = agent_id ?? ALL_AGENTS;
  return inTransaction(pool, { reading: true }, async (client: Client) => {
    const counters = await countDirectly(client, workspace_id, { agent_id, days, rest });
    if (days !== null) {
      const range = { slice, ...days };
      counters.push(
        ...(await loadCounters(client, workspace_id, range)),
        ...(await loadMerchantCounters(client, workspace_id, range, {
          measures: ['merchants'],
          max: MAX_MERCHANTS,
          counted: counters,
        })),
      );
    }
    const example_ids = new Set([...newestByReason(counters).values()].flat());
    const examples = await loadExamples(client, workspace_id, [...example_ids]);
    const agent_ids = new Set(counters.flatMap((each) => (each.measure === 'agents' ? each.name : [])));
    if (agent_id !== null) agent_ids.add(agent_id);
    const agents = await loadAgents(client, workspace_id, [...agent_ids]);
    const workspace = await loadWorkspace(client, workspace_id);
    if (workspace === undefined) return undefined;
    return {
      counters,
      agents: new Map(agents.map((agent) => [agent.agent_id, agent])),
      examples: new Map(examples.map((example) => [example.decision_id, example])),
      workspace,
    };
  });
}
