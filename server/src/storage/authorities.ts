import type { Authority, AuthorityRow } from '../domain/authorities.ts';
import type { Queryable } from './database.ts';
import { makeInsert } from './rows.ts';

const COLUMNS = 'agent_id, version, hash, authority, created_at, key_id, principal_id';
const REMEMBERED = 10_000;

/**
 * Parsed authorities by hash. The hash names the content, so an entry is right for ever; the same object each
 * time lets the blocklist and the assessor keep what they prepared for it.
 */
const parsed = new Map<string, Authority>();

/** The authority of a row; equal rows give the same object. It must not be changed. */
export function parseAuthority(row: Pick<AuthorityRow, 'hash' | 'authority'>): Authority {
  const known = parsed.get(row.hash);
  if (known !== undefined) return known;
  const authority = JSON.parse(row.authority) as Authority;
  if (parsed.size >= REMEMBERED) parsed.delete(parsed.keys().next().value as string);
  parsed.set(row.hash, authority);
  return authority;
}

/** The current authority of each of these agents that has one. */
export async function loadCurrentAuthorities(
  db: Queryable,
  workspace_id: string,
  agent_ids: readonly string[],
): Promise<AuthorityRow[]> {
  const result = await db.query<AuthorityRow & { workspace_id: string }>({
    name: 'load_current_authorities',
    text: `select v.agent_id, v.version, v.hash, v.authority, v.created_at, v.key_id, v.principal_id
      from agents a join authorities v on v.workspace_id = $1 and v.agent_id = a.agent_id and v.version = a.authority_version
      where a.workspace_id = $1 and a.agent_id = any($2)`,
    values: [workspace_id, agent_ids],
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
