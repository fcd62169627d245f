import { LRUCache } from 'lru-cache';
import type { Authority, AuthorityRow } from '../domain/authorities.ts';
import type { Queryable } from './database.ts';
import { makeInsert, type Of } from './rows.ts';

const COLUMNS = 'agent_id, version, hash, authority, created_at, key_id, principal_id';
const REMEMBERED = 10_000;
/** Of all remembered together; what is prepared for an authority may take twenty times as much as its text. */
const REMEMBERED_CHARACTERS = 8_000_000;

/**
 * Parsed authorities by hash. The hash names the content, so an entry is right for ever; the same object each
 * time lets the blocklist and the assessor keep what they prepared for it, as long as it is here.
 */
const parsed = new LRUCache<string, Authority>({ max: REMEMBERED, maxSize: REMEMBERED_CHARACTERS });

/**
 * The authority of a row; equal rows give the same object, unless very many others were asked for in between. It must
 * not be changed.
 */
export function parseAuthority(row: Pick<AuthorityRow, 'hash' | 'authority'>): Authority {
  const known = parsed.get(row.hash);
  if (known !== undefined) return known;
  const authority = JSON.parse(row.authority) as Authority;
  parsed.set(row.hash, authority, { size: row.authority.length });
  return authority;
}

/** The current authority of each of these agents, named by id or slug, that has one. */
export async function findCurrentAuthorities(
  db: Queryable,
  wanted: readonly Of<{ ref: string }>[],
): Promise<Of<AuthorityRow>[]> {
  const result = await db.query<Of<AuthorityRow>>({
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

/** One version of an agent's authority; null asks for the newest. */
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

/**
 * The current authority of an agent that may spend, unless the idempotency key was used already: what a new spend
 * would be decided by now.
 */
export async function getSpendingAuthority(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  idempotency_key: string,
): Promise<Pick<AuthorityRow, 'hash' | 'authority'> | undefined> {
  const result = await db.query<Pick<AuthorityRow, 'hash' | 'authority'>>({
    // Not prepared: a plan made while the tables were empty may read all keys, and planning costs nothing beside
    // the call to a model that follows.
    text: `select v.hash, v.authority
      from agents a join authorities v on v.workspace_id = $1 and v.agent_id = a.agent_id and v.version = a.authority_version
      where a.workspace_id = $1 and a.agent_id = $2 and a.status = 'active'
        and not exists (select 1 from idempotency_keys k
          where k.workspace_id = $1 and k.agent_id = $2 and k.idempotency_key = $3)`,
    values: [workspace_id, agent_id, idempotency_key],
  });
  return result.rows[0];
}

/** These versions of an agent's authority. */
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
});

/** A page of every version of every authority of a workspace, after the one named, in the order of their key. */
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
