import type { User } from '@purser/rules/domain/people';
import type pg from 'pg';
import type { Queryable } from '../../engine/storage/database.ts';
import { inTransaction } from '../../engine/storage/transactions.ts';
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
  /** The person's credential epoch in which it was made. */
  credential_epoch: number;
}

/** A person in the credential epoch of the session that asks. */
type InEpoch = Pick<User, 'user_id' | 'credential_epoch'>;

/** A passkey as its owner sees it. */
export interface ListedPasskey {
  id: string;
  name: string;
  created_at: string;
  last_used_at: string | null;
}

/** A short name of a credential, whose own id may be a thousand bytes. */
const ID = "left(encode(sha256(convert_to(credential_id, 'UTF8')), 'hex'), 32)";

/** Keeps a challenge for one answer. `whose`: who registers a passkey with it; null: it is for signing in. */
export async function saveChallenge(db: Queryable, challenge: string, whose: InEpoch | null): Promise<void> {
  await db.query({
    name: 'keep_challenge',
    text: `insert into passkey_challenges (challenge, user_id, credential_epoch, expires_at)
      values ($1, $2, $3, clock_timestamp() + make_interval(mins => $4))`,
    values: [challenge, whose?.user_id ?? null, whose?.credential_epoch ?? null, CHALLENGE_MINUTES],
  });
}

/** Uses a challenge up. Returns false if it is not one of ours, was for something else, was used or has expired. */
export async function consumeChallenge(
  db: Queryable,
  challenge: string,
  whose: InEpoch | null,
): Promise<boolean> {
  const result = await db.query({
    name: 'use_challenge',
    text: `delete from passkey_challenges
      where challenge = $1 and user_id is not distinct from $2 and credential_epoch is not distinct from $3
        and expires_at > clock_timestamp()`,
    values: [challenge, whose?.user_id ?? null, whose?.credential_epoch ?? null],
  });
  return result.rowCount === 1;
}

/** Returns a passkey of a person's present credential epoch, or undefined. */
export async function findPasskey(db: Queryable, credential_id: string): Promise<Passkey | undefined> {
  const result = await db.query<Passkey & { user_id: string }>({
    name: 'find_passkey',
    text: `select p.credential_id, p.user_id, p.public_key, p.counter, p.transports, p.credential_epoch
      from user_passkeys p join users u on u.user_id = p.user_id and u.credential_epoch = p.credential_epoch
      where p.credential_id = $1`,
    values: [credential_id],
  });
  return result.rows[0];
}

/** Returns the ids of a person's credentials, so that an authenticator is not registered twice. */
export async function listCredentialIds(
  db: Queryable,
  { user_id, credential_epoch }: InEpoch,
): Promise<string[]> {
  const result = await db.query<{ credential_id: string }>({
    name: 'list_credential_ids',
    text: 'select credential_id from user_passkeys where user_id = $1 and credential_epoch = $2',
    values: [user_id, credential_epoch],
  });
  return result.rows.map((row) => row.credential_id);
}

/** Returns a person's passkeys, oldest first. */
export async function listPasskeys(
  db: Queryable,
  { user_id, credential_epoch }: InEpoch,
): Promise<ListedPasskey[]> {
  const result = await db.query<ListedPasskey & { id: string }>({
    name: 'list_passkeys',
    text: `select ${ID} as id, name, created_at, last_used_at from user_passkeys
      where user_id = $1 and credential_epoch = $2 order by created_at, credential_id`,
    values: [user_id, credential_epoch],
  });
  return result.rows;
}

/**
 * Stores a passkey. Returns false if the credential is registered already, or the person is in another credential epoch by
 * now: what raises the epoch waits for passkeys that are stored in the old one, and they are worth nothing afterwards.
 */
export async function insertPasskey(db: Queryable, passkey: Passkey & { name: string }): Promise<boolean> {
  const result = await db.query({
    name: 'insert_passkey',
    text: `insert into user_passkeys
        (credential_id, user_id, public_key, counter, transports, name, created_at, credential_epoch)
      select $1, user_id, $3, $4, $5, $6, clock_timestamp(), credential_epoch
      from users where user_id = $2 and credential_epoch = $7 and disabled_at is null for share
      on conflict do nothing`,
    values: [
      passkey.credential_id,
      passkey.user_id,
      passkey.public_key,
      passkey.counter,
      passkey.transports,
      passkey.name,
      passkey.credential_epoch,
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
  person: InEpoch,
  id: string,
): Promise<'removed' | 'there is none' | 'only way in'> {
  return inTransaction(pool, { reading: false }, async (client) => {
    const ways = await lockWays(client, person);
    const listed = ways === null ? [] : await listPasskeys(client, person);
    if (ways === null || !listed.some((each) => each.id === id)) return 'there is none';
    if (!ways.has_password && !ways.is_linked && ways.passkeys === 1) return 'only way in';
    await client.query({
      name: 'delete_passkey',
      text: `delete from user_passkeys where user_id = $1 and ${ID} = $2`,
      values: [person.user_id, id],
    });
    return 'removed';
  });
}
