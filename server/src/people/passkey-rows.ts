import type pg from 'pg';
import type { Queryable } from '../storage/database.ts';
import { inTransaction } from '../storage/transactions.ts';
import { lockWays } from './user-rows.ts';

const CHALLENGE_MINUTES = 5;

/** A passkey as it is stored. The public key alone is known here. */
export interface Passkey {
  credential_id: string;
  user_id: string;
  public_key: Buffer;
  /** How often it has signed, as far as the authenticator tells. */
  counter: number;
  transports: readonly string[];
}

/** A passkey as its owner sees it. */
export interface ListedPasskey {
  id: string;
  name: string;
  created_at: string;
  last_used_at: string | null;
}

/** A short name of a credential, whose own id may be a thousand bytes. */
const ID = "left(encode(sha256(convert_to(credential_id, 'UTF8')), 'hex'), 32)";

/** Keeps a challenge for one answer. `user_id` is set for the registration of a passkey. */
export async function keepChallenge(db: Queryable, challenge: string, user_id: string | null): Promise<void> {
  await db.query({
    name: 'keep_challenge',
    text: `insert into passkey_challenges (challenge, user_id, expires_at)
      values ($1, $2, clock_timestamp() + make_interval(mins => $3))`,
    values: [challenge, user_id, CHALLENGE_MINUTES],
  });
}

/** Uses a challenge up. Returns false if it is not one of ours, was for something else, was used or has expired. */
export async function useChallenge(
  db: Queryable,
  challenge: string,
  user_id: string | null,
): Promise<boolean> {
  const result = await db.query({
    name: 'use_challenge',
    text: `delete from passkey_challenges
      where challenge = $1 and user_id is not distinct from $2 and expires_at > clock_timestamp()`,
    values: [challenge, user_id],
  });
  return result.rowCount === 1;
}

/** Returns a passkey, or undefined. */
export async function findPasskey(db: Queryable, credential_id: string): Promise<Passkey | undefined> {
  const result = await db.query<Passkey & { user_id: string }>({
    name: 'find_passkey',
    text: `select credential_id, user_id, public_key, counter, transports
      from user_passkeys where credential_id = $1`,
    values: [credential_id],
  });
  return result.rows[0];
}

/** Returns the ids of a person's credentials, so that an authenticator is not registered twice. */
export async function listCredentialIds(db: Queryable, user_id: string): Promise<string[]> {
  const result = await db.query<{ credential_id: string }>({
    name: 'list_credential_ids',
    text: 'select credential_id from user_passkeys where user_id = $1',
    values: [user_id],
  });
  return result.rows.map((row) => row.credential_id);
}

/** Returns a person's passkeys, oldest first. */
export async function listPasskeys(db: Queryable, user_id: string): Promise<ListedPasskey[]> {
  const result = await db.query<ListedPasskey & { id: string }>({
    name: 'list_passkeys',
    text: `select ${ID} as id, name, created_at, last_used_at from user_passkeys
      where user_id = $1 order by created_at, credential_id`,
    values: [user_id],
  });
  return result.rows;
}

/** Stores a passkey. Returns false if the credential is registered already. */
export async function insertPasskey(db: Queryable, passkey: Passkey & { name: string }): Promise<boolean> {
  const result = await db.query({
    name: 'insert_passkey',
    text: `insert into user_passkeys (credential_id, user_id, public_key, counter, transports, name, created_at)
      values ($1, $2, $3, $4, $5, $6, clock_timestamp()) on conflict do nothing`,
    values: [
      passkey.credential_id,
      passkey.user_id,
      passkey.public_key,
      passkey.counter,
      passkey.transports,
      passkey.name,
    ],
  });
  return result.rowCount === 1;
}

/**
 * Notes that a passkey has signed. Returns false if another answer with the same counter was faster, which tells that
 * there are two of it; authenticators that do not count always say 0.
 */
export async function notePasskeyUse(
  db: Queryable,
  credential_id: string,
  counter: number,
): Promise<boolean> {
  const result = await db.query({
    name: 'note_passkey_use',
    text: `update user_passkeys set counter = $2, last_used_at = clock_timestamp()
      where credential_id = $1 and (counter < $2 or (counter = 0 and $2 = 0))`,
    values: [credential_id, counter],
  });
  return result.rowCount === 1;
}

/** Removes one of a person's passkeys by its short name, unless it is the only way in that they have. */
export async function deletePasskey(
  pool: pg.Pool,
  user_id: string,
  id: string,
): Promise<'removed' | 'there is none' | 'only way in'> {
  return inTransaction(pool, { reading: false }, async (client) => {
    const { has_password, passkeys, is_linked } = await lockWays(client, user_id);
    const listed = await listPasskeys(client, user_id);
    if (!listed.some((each) => each.id === id)) return 'there is none';
    if (!has_password && !is_linked && passkeys === 1) return 'only way in';
    await client.query({
      name: 'delete_passkey',
      text: `delete from user_passkeys where user_id = $1 and ${ID} = $2`,
      values: [user_id, id],
    });
    return 'removed';
  });
}
