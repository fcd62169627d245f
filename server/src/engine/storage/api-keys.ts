import type { ApiKey, KeyBounds, KeyStatus, KeyUse } from '@purser/rules/domain/keys';
import { pushTo } from '@purser/rules/values/maps';
import { engineOf } from '../citus/engine.ts';
import type { Client, Queryable } from './database.ts';
import type { SortedPage } from './pages.ts';
import { type InWorkspace, makeInsert, msOf, type WorkspaceRows } from './rows.ts';

const COLUMN_NAMES = [
  'key_id',
  'name',
  'kind',
  'scopes',
  'agent_id',
  'principal_id',
  'digest',
  'hint',
  'created_at',
  'expires_at',
  'revoked_at',
  'made_by_key_id',
  'made_by_principal_id',
  'made_by_person',
  'allowance_path',
  'maker_key_ids',
] as const satisfies readonly (keyof ApiKey)[];
const COLUMNS = COLUMN_NAMES.join(', ');
const COLUMNS_OF_K = COLUMN_NAMES.map((column) => `k.${column}`).join(', ');

/** The state of what a key `k` is bound to: nothing is looked up for other keys. */
const BOUNDS = `left join lateral (
    select min(b.expires_at) as bound_until, coalesce(bool_or(b.is_revoked), false) as is_bound_revoked from (
      select a.expires_at, a.status = 'REVOKED' as is_revoked from allowances a
        where a.workspace_id = k.workspace_id and a.allowance_id = any(k.allowance_path)
      union all
      select m.expires_at, m.revoked_at is not null from api_keys m
        where m.workspace_id = k.workspace_id and m.key_id = any(k.maker_key_ids)) as b) as b on k.allowance_path <> '{}'`;
const BOUND_COLUMNS = 'b.bound_until, coalesce(b.is_bound_revoked, false) as is_bound_revoked';
/** All that a request by a key `k` is judged by. */
const FOUND = `k.workspace_id, ${COLUMNS_OF_K}, ${BOUND_COLUMNS},
  ${msOf('clock_timestamp()')} as clock_ms`;

/** The digest that a key is found by, and the id of the secret key that the digest was computed with. */
export interface ApiKeyDigest {
  digest: Buffer;
  key_id: string;
  secret_id: string;
}

/** A key that was found by the digest of its value, with the database's clock (ms) at that moment. */
export interface FoundKey extends ApiKey, KeyBounds {
  workspace_id: string;
  clock_ms: number;
}

/** A key that is there, but whose worker of Citus does not answer. */
export interface UnreadableKey {
  digest: Buffer;
  error: unknown;
}

/** Returns the keys with these digests; unknown ones are left out. */
export async function findKeys(
  db: Queryable,
  digests: readonly Buffer[],
): Promise<(FoundKey | UnreadableKey)[]> {
  if (engineOf(db) === 'citus') return findKeysByWorkspace(db, digests);
  const result = await db.query<FoundKey>({
    name: 'find_keys',
    text: `select ${FOUND} from api_key_digests d
      join api_keys k on k.workspace_id = d.workspace_id and k.key_id = d.key_id ${BOUNDS}
      where d.digest = any($1)`,
    values: [digests],
  });
  return result.rows;
}

/**
 * As `findKeys` on Citus: the digests lie on the coordinator, and each workspace's keys on its worker. A lost worker fails
 * the requests of its own workspaces alone.
 */
async function findKeysByWorkspace(
  db: Queryable,
  digests: readonly Buffer[],
): Promise<(FoundKey | UnreadableKey)[]> {
  const of = new Map<string, Awaited<ReturnType<typeof loadKeyDigests>>>();
  for (const named of await loadKeyDigests(db, digests)) pushTo(of, named.workspace_id, named);
  const found = await Promise.all(
    [...of].map(async ([workspace_id, named]) => {
      try {
        const result = await db.query<FoundKey>({
          name: 'find_keys_of_workspace',
          text: `select ${FOUND} from api_keys k ${BOUNDS} where k.workspace_id = $1 and k.key_id = any($2)`,
          values: [workspace_id, named.map(({ key_id }) => key_id)],
        });
        return result.rows;
      } catch (error) {
        return named.map(({ digest }) => ({ digest, error }));
      }
    }),
  );
  return found.flat();
}

/** Returns keys by id; unknown ones are left out. */
export async function loadKeys(
  db: Queryable,
  wanted: readonly InWorkspace<{ key_id: string }>[],
): Promise<InWorkspace<ApiKey>[]> {
  const result = await db.query<InWorkspace<ApiKey>>({
    name: 'load_keys',
    text: `select k.* from unnest($1::text[], $2::text[]) as w(workspace_id, key_id)
      cross join lateral (
        select workspace_id, ${COLUMNS} from api_keys
        where workspace_id = w.workspace_id and key_id = w.key_id limit 1) as k`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.key_id)],
  });
  return result.rows;
}

/** Returns the keys that made these invitations; none for those that a person or the operator made. */
export async function findKeysOfInvitations(
  db: Queryable,
  wanted: readonly InWorkspace<{ invitation_id: string }>[],
): Promise<InWorkspace<ApiKey>[]> {
  const result = await db.query<InWorkspace<ApiKey>>({
    name: 'find_keys_of_invitations',
    text: `select k.workspace_id, ${COLUMNS_OF_K} from unnest($1::text[], $2::text[]) as w(workspace_id, invitation_id)
      join invitations i on i.workspace_id = w.workspace_id and i.invitation_id = w.invitation_id
      join api_keys k on k.workspace_id = i.workspace_id and k.key_id = i.invited_by_key_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.invitation_id)],
  });
  return result.rows;
}

/** Returns the keys that carry these principals and that another person made; revoked ones are left out. */
export async function loadForeignKeys(
  db: Queryable,
  wanted: readonly InWorkspace<{ principal_id: string }>[],
): Promise<InWorkspace<ApiKey>[]> {
  const result = await db.query<InWorkspace<ApiKey>>({
    name: 'load_foreign_keys',
    text: `select k.workspace_id, ${COLUMNS_OF_K} from unnest($1::text[], $2::text[]) as w(workspace_id, principal_id)
      join api_keys k on k.workspace_id = w.workspace_id and k.principal_id = w.principal_id
      where k.made_by_person <> k.principal_id and k.revoked_at is null`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.principal_id)],
  });
  return result.rows;
}

/** Returns the admin keys of these workspaces that are not revoked, expired ones included. */
export async function loadAdminKeys(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<InWorkspace<ApiKey>[]> {
  const result = await db.query<InWorkspace<ApiKey>>({
    name: 'load_admin_keys',
    text: `select workspace_id, ${COLUMNS} from api_keys
      where workspace_id = any($1) and 'admin' = any(scopes) and revoked_at is null`,
    values: [workspace_ids],
  });
  return result.rows;
}

/** Returns the active keys of these workspaces that may review. */
export async function loadReviewKeys(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<InWorkspace<ApiKey>[]> {
  const result = await db.query<InWorkspace<ApiKey>>({
    name: 'load_review_keys',
    text: `select workspace_id, ${COLUMNS} from api_keys
      where workspace_id = any($1) and 'review' = any(scopes) and revoked_at is null
        and (expires_at is null or expires_at > clock_timestamp())`,
    values: [workspace_ids],
  });
  return result.rows;
}

/**
 * Returns the topmost key of the making of each of these keys, by key id: the one that no key made. Who made a key never
 * changes.
 */
export async function loadTopmostKeys(
  db: Queryable,
  workspace_id: string,
  key_ids: readonly string[],
): Promise<Map<string, string>> {
  const result = await db.query<{ key_id: string; topmost_id: string }>({
    name: 'load_topmost_keys',
    text: `with recursive above as (
        select key_id, key_id as topmost_id, made_by_key_id from api_keys where workspace_id = $1 and key_id = any($2)
        union all
        select a.key_id, k.key_id, k.made_by_key_id from above a
        join api_keys k on k.workspace_id = $1 and k.key_id = a.made_by_key_id)
      select key_id, topmost_id from above where made_by_key_id is null`,
    values: [workspace_id, key_ids],
  });
  return new Map(result.rows.map(({ key_id, topmost_id }) => [key_id, topmost_id]));
}

/** Filters of a list of keys; all must match. */
export interface KeyFilters {
  agent_ids?: readonly string[];
  status?: readonly KeyStatus[];
  kind?: readonly string[];
  /** The principal of a person: keys for which `isKeyOf` holds. */
  person?: string;
}

/** A key in a list, with the time of its last use and the database's clock (ms). */
export interface ListedKey extends ApiKey, KeyBounds {
  last_used_at: string | null;
  clock_ms: number;
}

/** Returns a page of keys, newest first unless it is sorted otherwise. */
export async function listKeys(
  db: Queryable,
  workspace_id: string,
  page: SortedPage<'created_at'>,
  { agent_ids, status, kind, person }: KeyFilters = {},
): Promise<ListedKey[]> {
  const { order = 'desc' } = page;
  const result = await db.query<ListedKey & { workspace_id: string }>({
    name: `list_keys_${order}`,
    text: `select ${COLUMNS_OF_K}, ${BOUND_COLUMNS}, u.last_used_at,
        ${msOf('clock_timestamp()')} as clock_ms
      from api_keys k left join api_key_uses u on u.workspace_id = $1 and u.key_id = k.key_id
      ${BOUNDS}
      where k.workspace_id = $1 and ($2::text is null or k.key_id ${order === 'asc' ? '>' : '<'} $2)
        and ($4::text[] is null or k.agent_id = any($4)) and ($5::text[] is null or k.kind = any($5))
        and ($6::text[] is null or case when k.revoked_at is not null or b.is_bound_revoked then 'revoked'
          when least(k.expires_at, b.bound_until) <= (select clock_timestamp()) then 'expired' else 'active' end = any($6))
        and ($7::text is null or $7 in (k.made_by_person, k.made_by_principal_id, k.principal_id))
      order by k.key_id ${order} limit $3`,
    values: [
      workspace_id,
      page.after,
      page.limit,
      agent_ids ?? null,
      kind ?? null,
      status ?? null,
      person ?? null,
    ],
  });
  return result.rows;
}

/** Inserts new keys and updates those that were revoked or rewrapped. */
export const putKeys = makeInsert<ApiKey>(
  'api_keys',
  {
    key_id: 'text',
    name: 'text',
    kind: 'text',
    scopes: 'words',
    agent_id: 'text',
    principal_id: 'text',
    digest: 'bytea',
    hint: 'text',
    created_at: 'timestamptz',
    expires_at: 'timestamptz',
    revoked_at: 'timestamptz',
    made_by_key_id: 'text',
    made_by_principal_id: 'text',
    made_by_person: 'text',
    allowance_path: 'words',
    maker_key_ids: 'words',
  },
  { conflict: ['key_id'], update: ['digest', 'revoked_at'] },
);

/** Inserts the digests that keys are found by. */
export const insertKeyDigests = makeInsert<ApiKeyDigest>('api_key_digests', {
  digest: 'bytea',
  key_id: 'text',
  secret_id: 'text',
});

/** Deletes digests that rewrapped keys no longer use. */
export function deleteKeyDigests(
  client: Client,
  parts: readonly WorkspaceRows<Pick<ApiKeyDigest, 'digest'>>[],
): Promise<unknown> {
  const all = parts.flatMap(({ workspace_id, rows }) => rows.map(({ digest }) => ({ workspace_id, digest })));
  return client.query({
    name: 'delete_key_digests',
    text: `delete from api_key_digests d using unnest($1::text[], $2::bytea[]) as r(workspace_id, digest)
      where d.digest = r.digest and d.workspace_id = r.workspace_id`,
    values: [all.map((each) => each.workspace_id), all.map((each) => each.digest)],
  });
}

/** Returns the keys that these digests belong to; unknown digests are left out. */
export async function loadKeyDigests(
  db: Queryable,
  digests: readonly Buffer[],
): Promise<{ digest: Buffer; workspace_id: string; key_id: string }[]> {
  const result = await db.query<{ digest: Buffer; workspace_id: string; key_id: string }>({
    name: 'load_key_digests',
    text: 'select digest, workspace_id, key_id from api_key_digests where digest = any($1)',
    values: [digests],
  });
  return result.rows;
}

export const putKeyUses = makeInsert<KeyUse>(
  'api_key_uses',
  { key_id: 'text', last_used_at: 'timestamptz' },
  { conflict: ['key_id'], update: ['last_used_at'] },
);
