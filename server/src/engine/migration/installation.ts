import type { RetiredKey } from '@purser/rules/domain/checkpoints';
import type { Queryable } from '../storage/database.ts';

/** The database's data about the secret keys in use. */
export interface Installation {
  /** A value derived from the current secret key. */
  secret_check: Buffer;
  /** The time since which that key has been current; null: from the beginning. */
  secret_since: string | null;
  retired_keys: RetiredKey[];
}

/** Returns the stored installation, or null if there is none yet. */
export async function readInstallation(db: Queryable): Promise<Installation | null> {
  const text = 'select secret_check, secret_since, retired_keys from installation';
  return (await db.query<Installation>({ text })).rows[0] ?? null;
}

/**
 * Stores the check value of the secret key of a new database, and sets the secret key id of digests that have none to
 * that of the stored key. Returns the stored installation.
 */
export async function rememberSecret(db: Queryable, secret_check: Buffer): Promise<Installation> {
  const text = 'insert into installation (secret_check) values ($1) on conflict do nothing';
  await db.query({ text, values: [secret_check] });
  // This is the id that `secretIdOf` returns.
  await db.query({
    text: `update api_key_digests set secret_id = left(encode(i.secret_check, 'hex'), 16)
      from installation i where secret_id is null`,
  });
  return (await readInstallation(db)) as Installation;
}

/**
 * Makes another secret key the current one, and stores the keys that it retires. Returns false, without a change, if
 * `from` is not the current key any more.
 */
export async function replaceSecret(
  db: Queryable,
  change: { from: Buffer; to: Buffer; retired_keys: readonly RetiredKey[] },
): Promise<boolean> {
  const result = await db.query({
    text: `update installation set secret_check = $2, secret_since = clock_timestamp(), retired_keys = $3
      where secret_check = $1`,
    values: [change.from, change.to, JSON.stringify(change.retired_keys)],
  });
  return result.rowCount === 1;
}

/** An API key whose digest was computed with another secret key than the current one. */
export interface UnwrappedApiKey {
  workspace_id: string;
  key_id: string;
  name: string;
  hint: string;
  last_used_at: string | null;
}

/** Returns the keys that would be unknown without the old secret keys, except revoked and expired ones. */
export async function listUnwrappedKeys(db: Queryable, secret_id: string): Promise<UnwrappedApiKey[]> {
  const result = await db.query<UnwrappedApiKey>({
    text: `select k.workspace_id, k.key_id, k.name, k.hint, u.last_used_at
      from api_key_digests d
      join api_keys k on k.workspace_id = d.workspace_id and k.key_id = d.key_id
      left join api_key_uses u on u.workspace_id = k.workspace_id and u.key_id = k.key_id
      where d.secret_id is distinct from $1 and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > clock_timestamp())
      order by k.workspace_id, k.key_id`,
    values: [secret_id],
  });
  return result.rows;
}
