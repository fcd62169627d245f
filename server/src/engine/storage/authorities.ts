import type { Authority } from '@purser/contract/authority';
import type { Agent } from '@purser/rules/domain/agents';
import type { AuthorityRow, JoinedLimits, JoiningAuthority } from '@purser/rules/domain/authorities';
import { LRUCache } from 'lru-cache';
import type { Queryable } from './database.ts';
import { type PageRows, pageRows, type SizedRow, withinBytes } from './pages.ts';
import { type InWorkspace, makeInsert } from './rows.ts';

const COLUMNS = 'agent_id, version, hash, authority, created_at, key_id, principal_id, note, joined';
const MAX_CACHED = 10_000;
/** The total of all cached texts; what is precomputed for an authority may take twenty times as much as its text. */
const MAX_CACHED_CHARACTERS = 8_000_000;

/**
 * Parsed authorities by hash. The hash identifies the content, so an entry never becomes stale. Returning the same
 * object lets the blocklist and the assessor cache what they precompute for it.
 */
const parsed = new LRUCache<string, Authority>({ max: MAX_CACHED, maxSize: MAX_CACHED_CHARACTERS });

/**
 * Parses the authority of a row. Equal rows return the same object until it is evicted from the cache. The object must
 * not be changed.
 */
export function parseAuthority(row: Pick<AuthorityRow, 'hash' | 'authority'>): Authority {
  const known = parsed.get(row.hash);
  if (known !== undefined) return known;
  const authority = JSON.parse(row.authority) as Authority;
  parsed.set(row.hash, authority, { size: row.authority.length });
  return authority;
}

/** Returns the current authorities of these agents, given by id or slug; agents without one are left out. */
export async function findCurrentAuthorities(
  db: Queryable,
  wanted: readonly InWorkspace<{ ref: string }>[],
): Promise<InWorkspace<AuthorityRow>[]> {
  const result = await db.query<InWorkspace<AuthorityRow>>({
    name: 'find_current_authorities',
    text: `select v.* from unnest($1::text[], $2::text[]) as w(workspace_id, ref)
      cross join lateral (
        select agent_id, authority_version from agents where workspace_id = w.workspace_id and agent_id = w.ref
        union all
        select agent_id, authority_version from agents where workspace_id = w.workspace_id and slug = w.ref) as a
      cross join lateral (
        select workspace_id, ${COLUMNS} from authorities
        where workspace_id = w.workspace_id and agent_id = a.agent_id and version = a.authority_version limit 1) as v`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.ref)],
  });
  return result.rows;
}

/** Returns the current authorities of the agents of these decisions; agents without one are left out. */
export async function findAuthoritiesOfDecisions(
  db: Queryable,
  wanted: readonly InWorkspace<{ decision_id: string }>[],
): Promise<InWorkspace<AuthorityRow>[]> {
  const result = await db.query<InWorkspace<AuthorityRow>>({
    name: 'find_authorities_of_decisions',
    text: `select v.* from (
        select distinct d.workspace_id, d.agent_id from unnest($1::text[], $2::text[]) as w(workspace_id, decision_id)
        cross join lateral (
          select workspace_id, agent_id from decisions
          where workspace_id = w.workspace_id and decision_id = w.decision_id limit 1) as d) as d
      cross join lateral (
        select agent_id, authority_version from agents
        where workspace_id = d.workspace_id and agent_id = d.agent_id limit 1) as a
      cross join lateral (
        select workspace_id, ${COLUMNS} from authorities
        where workspace_id = d.workspace_id and agent_id = a.agent_id and version = a.authority_version limit 1) as v`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.decision_id)],
  });
  return result.rows;
}

/** Returns one version of an agent's authority; `version` null means the newest. */
export async function getAuthority(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  version: number | null,
): Promise<AuthorityRow | undefined> {
  const result = await db.query<AuthorityRow & { workspace_id: string }>({
    name: 'get_authority',
    text: `select ${COLUMNS} from authorities where workspace_id = $1 and agent_id = $2
      and ($3::integer is null or version = $3) order by version desc limit 1`,
    values: [workspace_id, agent_id, version],
  });
  return result.rows[0];
}

/** An authority, and the versions of the agent's listed merchants and answered questions. */
type SpendingAuthority = Pick<AuthorityRow, 'hash' | 'authority'> &
  Pick<Agent, 'directory_version' | 'answers_version' | 'allowances_version'>;

/**
 * Returns the authority that a new spend would be decided by now; undefined if the agent is not active, has none, or
 * has used the idempotency key already.
 */
export async function getSpendingAuthority(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  idempotency_key: string,
): Promise<SpendingAuthority | undefined> {
  const result = await db.query<SpendingAuthority>({
    // This statement is not prepared: a plan made while the tables were empty may read all keys, and planning costs
    // little compared with the call to a model that follows.
    text: `select v.hash, v.authority, a.directory_version, a.answers_version, a.allowances_version
      from agents a join authorities v on v.workspace_id = $1 and v.agent_id = a.agent_id and v.version = a.authority_version
      where a.workspace_id = $1 and a.agent_id = $2 and a.status = 'active'
        and not exists (select 1 from idempotency_keys k
          where k.workspace_id = $1 and k.agent_id = $2 and k.idempotency_key = $3)`,
    values: [workspace_id, agent_id, idempotency_key],
  });
  return result.rows[0];
}

/** Returns the current authorities of these agents by agent id. A text is read only where it was not parsed before. */
export async function loadAuthoritiesOf(
  db: Queryable,
  workspace_id: string,
  agents: readonly { agent_id: string; authority_version: number | null; authority_hash: string | null }[],
): Promise<Map<string, Authority>> {
  const found = new Map<string, Authority>();
  const unknown = agents.filter(({ agent_id, authority_hash }) => {
    const known = authority_hash === null ? undefined : parsed.get(authority_hash);
    if (known !== undefined) found.set(agent_id, known);
    return authority_hash !== null && known === undefined;
  });
  if (unknown.length === 0) return found;
  const result = await db.query<Pick<AuthorityRow, 'agent_id' | 'hash' | 'authority'>>({
    name: 'load_authorities_of',
    text: `select a.agent_id, a.hash, a.authority from unnest($2::text[], $3::integer[]) as w(agent_id, version)
      cross join lateral (
        select * from authorities a
        where a.workspace_id = $1 and a.agent_id = w.agent_id and a.version = w.version limit 1) as a`,
    values: [
      workspace_id,
      unknown.map(({ agent_id }) => agent_id),
      unknown.map(({ authority_version }) => authority_version),
    ],
  });
  for (const row of result.rows) found.set(row.agent_id, parseAuthority(row));
  return found;
}

/** Returns a page of an agent's versions, newest first, before `before`: `limit` of them, or about a megabyte. */
export async function listAuthorityVersions(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  page: { before: number | null; limit: number },
): Promise<PageRows<AuthorityRow>> {
  const result = await db.query<AuthorityRow & SizedRow>({
    name: 'list_authority_versions',
    text: withinBytes(
      `select ${COLUMNS} from authorities where workspace_id = $1 and agent_id = $2
        and ($3::integer is null or version < $3) order by version desc limit $4`,
      { size: 'octet_length(authority)', order: 'version desc' },
    ),
    values: [workspace_id, agent_id, page.before, page.limit + 1],
  });
  return pageRows(result.rows, page.limit, ({ found, bytes_before, ...row }) => row);
}

/** Returns these versions of an agent's authority. */
export async function loadAuthorityVersions(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  versions: readonly number[],
): Promise<AuthorityRow[]> {
  const result = await db.query<AuthorityRow & { workspace_id: string }>({
    name: 'load_authority_versions',
    text: `select ${COLUMNS} from authorities where workspace_id = $1 and agent_id = $2 and version = any($3::integer[])`,
    values: [workspace_id, agent_id, versions],
  });
  return result.rows;
}

export const insertAuthorities = makeInsert<AuthorityRow>('authorities', {
  agent_id: 'text',
  version: 'integer',
  hash: 'text',
  authority: 'text',
  created_at: 'timestamptz',
  key_id: 'text',
  principal_id: 'text',
  note: 'text',
  joined: 'text',
});

/** Returns a page of all versions of all authorities of a workspace, after `page.after`, in key order. */
export async function listAuthorities(
  db: Queryable,
  workspace_id: string,
  page: { after: { agent_id: string; version: number }; limit: number },
): Promise<AuthorityRow[]> {
  const result = await db.query<AuthorityRow & { workspace_id: string }>({
    name: 'list_authorities',
    text: `select ${COLUMNS} from authorities where workspace_id = $1 and (agent_id, version) > ($2, $3)
      order by agent_id, version limit $4`,
    values: [workspace_id, page.after.agent_id, page.after.version, page.limit],
  });
  return result.rows;
}

const JOINING_COLUMNS = 'version, hash, authority, joined';

/** A row of a version with which limits joined. */
export type JoiningRow = Pick<AuthorityRow, 'version' | 'hash' | 'authority' | 'joined'>;

/**
 * Returns the versions of an agent's authority with which limits joined; rows without such limits are left out. Throws SyntaxError
 * where a row is not as it was stored.
 */
export function joiningOf(rows: readonly JoiningRow[] | null): JoiningAuthority[] {
  return (rows ?? []).flatMap(({ version, joined, ...row }) =>
    joined === null ? [] : { version, authority: parseAuthority(row), joined: parseJoined(joined) },
  );
}

function parseJoined(text: string): JoinedLimits {
  const joined = JSON.parse(text) as Partial<JoinedLimits> | null;
  const { counter_ids, from, place } = joined ?? {};
  if (!Array.isArray(counter_ids) || typeof from !== 'string' || typeof place !== 'string')
    throw new SyntaxError('The stored limits of the authority are invalid.');
  return { counter_ids, from, place };
}

/** Selects, as a JSON list, the versions that limits joined with at or after a decision; `d` is the decision's row. */
export const JOINING_AFTER = `(select json_agg(j order by j.version) from (
    select ${JOINING_COLUMNS} from authorities a where a.workspace_id = d.workspace_id and a.agent_id = d.agent_id
      and a.joined is not null and a.created_at >= d.created_at) as j)`;

/** Returns the versions of an agent's authority with which limits joined, in their order. */
export async function loadJoiningAuthorities(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
): Promise<JoiningAuthority[]> {
  const result = await db.query<JoiningRow & { workspace_id: string }>({
    name: 'load_joining_authorities',
    text: `select ${JOINING_COLUMNS} from authorities
      where workspace_id = $1 and agent_id = $2 and joined is not null order by version`,
    values: [workspace_id, agent_id],
  });
  return joiningOf(result.rows);
}
