import type { Agent } from '../domain/agents.ts';
import type { Client, Queryable } from './database.ts';
import { makeInsert } from './rows.ts';

const COLUMNS =
  'agent_id, slug, name, mode, status, authority_version, authority_hash, created_at, updated_at';

/** Agents by id or slug; what does not exist is left out. */
export async function loadAgents(
  db: Queryable,
  workspace_id: string,
  refs: readonly string[],
): Promise<Agent[]> {
  const result = await db.query<Agent & { workspace_id: string }>({
    name: 'load_agents',
    text: `select ${COLUMNS} from agents where workspace_id = $1 and agent_id = any($2)
      union all select ${COLUMNS} from agents where workspace_id = $1 and slug = any($2)`,
    values: [workspace_id, refs],
  });
  return result.rows;
}

/** The agents that these decisions were made for. */
export async function loadAgentsOfDecisions(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<Agent[]> {
  const result = await db.query<Agent & { workspace_id: string }>({
    name: 'load_agents_of_decisions',
    text: `select a.* from (
        select distinct agent_id from decisions where workspace_id = $1 and decision_id = any($2)) as d
      cross join lateral (
        select ${COLUMNS} from agents where workspace_id = $1 and agent_id = d.agent_id limit 1) as a`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}

/** One agent by id or slug. */
export async function getAgent(db: Queryable, workspace_id: string, ref: string): Promise<Agent | undefined> {
  return (await loadAgents(db, workspace_id, [ref]))[0];
}

/** A page of agents, newest first, older than the agent `after`. */
export async function listAgents(
  db: Queryable,
  workspace_id: string,
  page: { after: string | null; limit: number },
): Promise<Agent[]> {
  const result = await db.query<Agent & { workspace_id: string }>({
    name: 'list_agents',
    text: `select ${COLUMNS} from agents where workspace_id = $1 and ($2::text is null or agent_id < $2)
      order by agent_id desc limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

/** How many agents the workspace ever created: revoked ones count too. */
export async function countAgents(db: Queryable, workspace_id: string): Promise<number> {
  const result = await db.query<{ count: number }>({
    name: 'count_agents',
    text: 'select count(*) as count from agents where workspace_id = $1',
    values: [workspace_id],
  });
  return result.rows[0]?.count ?? 0;
}

/** Writes agents, new or changed. */
export const putAgents: (client: Client, workspace_id: string, rows: readonly Agent[]) => Promise<unknown> =
  makeInsert<Agent>(
    'agents',
    {
      agent_id: 'text',
      slug: 'text',
      name: 'text',
      mode: 'text',
      status: 'text',
      authority_version: 'integer',
      authority_hash: 'text',
      created_at: 'timestamptz',
      updated_at: 'timestamptz',
    },
    {
      conflict: ['agent_id'],
      update: ['name', 'mode', 'status', 'authority_version', 'authority_hash', 'updated_at'],
    },
  );
