import type { Agent } from '@purser/rules/domain/agents';
import type { Queryable } from './database.ts';
import { containing, type SortedPage } from './pages.ts';
import { type InWorkspace, makeInsert } from './rows.ts';

const COLUMNS =
  'agent_id, slug, name, mode, status, authority_version, authority_hash, directory_version, answers_version, allowances_version, created_at, updated_at';

/** Returns the agents with these ids or slugs; unknown ones are left out. */
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

/** Returns agents of several workspaces by id or slug; unknown ones are left out. */
export async function findAgents(
  db: Queryable,
  wanted: readonly InWorkspace<{ ref: string }>[],
): Promise<InWorkspace<Agent>[]> {
  const result = await db.query<InWorkspace<Agent>>({
    name: 'find_agents',
    text: `select a.* from unnest($1::text[], $2::text[]) as w(workspace_id, ref)
      cross join lateral (
        select workspace_id, ${COLUMNS} from agents where workspace_id = w.workspace_id and agent_id = w.ref
        union all
        select workspace_id, ${COLUMNS} from agents where workspace_id = w.workspace_id and slug = w.ref) as a`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.ref)],
  });
  return result.rows;
}

/** Returns the agents that these decisions were made for. */
export async function findAgentsOfDecisions(
  db: Queryable,
  wanted: readonly InWorkspace<{ decision_id: string }>[],
): Promise<InWorkspace<Agent>[]> {
  const result = await db.query<InWorkspace<Agent>>({
    name: 'find_agents_of_decisions',
    text: `select a.* from (
        select distinct d.workspace_id, d.agent_id from unnest($1::text[], $2::text[]) as w(workspace_id, decision_id)
        cross join lateral (
          select workspace_id, agent_id from decisions
          where workspace_id = w.workspace_id and decision_id = w.decision_id limit 1) as d) as d
      cross join lateral (
        select workspace_id, ${COLUMNS} from agents
        where workspace_id = d.workspace_id and agent_id = d.agent_id limit 1) as a`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.decision_id)],
  });
  return result.rows;
}

/** Returns one agent by id or slug. */
export async function getAgent(db: Queryable, workspace_id: string, ref: string): Promise<Agent | undefined> {
  return (await loadAgents(db, workspace_id, [ref]))[0];
}

/** Filters of a list of agents; all must match. */
export interface AgentFilters {
  status?: readonly string[];
  mode?: readonly string[];
  /** Case-insensitive part of the slug or name. */
  q?: string;
}

/** Returns a page of agents, newest first unless it is sorted otherwise. */
export async function listAgents(
  db: Queryable,
  workspace_id: string,
  page: SortedPage<'created_at' | 'slug'>,
  { status, mode, q }: AgentFilters = {},
): Promise<Agent[]> {
  const { sort = 'created_at', order = 'desc' } = page;
  // Ids rise with the time of creation.
  const column = sort === 'slug' ? 'slug' : 'agent_id';
  const result = await db.query<Agent & { workspace_id: string }>({
    name: `list_agents_${sort}_${order}`,
    text: `select ${COLUMNS} from agents where workspace_id = $1
        and ($2::text is null or ${column} ${order === 'asc' ? '>' : '<'}
          (select ${column} from agents where workspace_id = $1 and agent_id = $2))
        and ($4::text[] is null or status = any($4)) and ($5::text[] is null or mode = any($5))
        and ($6::text is null or slug ilike $6 or name collate "und-x-icu" ilike $6)
      order by ${column} ${order} limit $3`,
    values: [
      workspace_id,
      page.after,
      page.limit,
      status ?? null,
      mode ?? null,
      q === undefined ? null : containing(q),
    ],
  });
  return result.rows;
}

/** Returns when each of these agents last asked for a spend; one that never did is left out. */
export async function listLastDecisions(
  db: Queryable,
  workspace_id: string,
  agent_ids: readonly string[],
): Promise<{ agent_id: string; created_at: string }[]> {
  const result = await db.query<{ agent_id: string; created_at: string }>({
    name: 'list_last_decisions',
    text: `select w.agent_id, d.created_at from unnest($2::text[]) as w(agent_id)
      cross join lateral (
        select decision_id from decisions where workspace_id = $1 and agent_id = w.agent_id and agent_id <> ''
        order by decision_id desc limit 1) as newest
      cross join lateral (
        select created_at from decisions d where d.workspace_id = $1 and d.decision_id = newest.decision_id limit 1) as d`,
    values: [workspace_id, agent_ids],
  });
  return result.rows;
}

/** Counts the agents that each of these workspaces ever created; a workspace without any is left out. */
export async function countAgentsOf(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<{ workspace_id: string; count: number }[]> {
  const result = await db.query<{ workspace_id: string; count: number }>({
    name: 'count_agents_of',
    text: 'select workspace_id, count(*) as count from agents where workspace_id = any($1) group by workspace_id',
    values: [workspace_ids],
  });
  return result.rows;
}

/** Counts the agents that the workspace ever created, revoked ones included. */
export async function countAgents(db: Queryable, workspace_id: string): Promise<number> {
  const result = await db.query<{ count: number }>({
    name: 'count_agents',
    text: 'select count(*) as count from agents where workspace_id = $1',
    values: [workspace_id],
  });
  return result.rows[0]?.count ?? 0;
}

/** Inserts new agents and updates existing ones. */
export const putAgents = makeInsert<Agent>(
  'agents',
  {
    agent_id: 'text',
    slug: 'text',
    name: 'text',
    mode: 'text',
    status: 'text',
    authority_version: 'integer',
    authority_hash: 'text',
    directory_version: 'integer',
    answers_version: 'bigint',
    allowances_version: 'bigint',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  },
  {
    conflict: ['agent_id'],
    update: [
      'name',
      'mode',
      'status',
      'authority_version',
      'authority_hash',
      'directory_version',
      'answers_version',
      'allowances_version',
      'updated_at',
    ],
  },
);
