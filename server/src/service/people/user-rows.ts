import type { User } from '@purser/rules/domain/people';
import type pg from 'pg';
import type { Client, Queryable } from '../../engine/storage/database.ts';
import { type Identity, IS_PENDING } from '../../engine/storage/members.ts';
import type { Membership } from '../../engine/storage/sessions.ts';
import { inTransaction } from '../../engine/storage/transactions.ts';

const USER =
  'user_id, email, name, password_hash, created_at, disabled_at, credential_epoch, email_proved_at';

/** Returns whether the installation has any person. */
export async function hasPeople(db: Queryable): Promise<boolean> {
  const result = await db.query<{ found: boolean }>({
    name: 'has_people',
    text: 'select exists (select 1 from users) as found',
  });
  return result.rows[0]?.found === true;
}

/** Returns the person with this e-mail, or undefined. */
export async function findUserByEmail(db: Queryable, email: string): Promise<User | undefined> {
  const result = await db.query<User & { user_id: string }>({
    name: 'find_user_by_email',
    text: `select ${USER} from users where email = $1`,
    values: [email],
  });
  return result.rows[0];
}

/** Returns a person by id, or undefined. */
export async function findUser(db: Queryable, user_id: string): Promise<User | undefined> {
  const result = await db.query<User & { user_id: string }>({
    name: 'find_user',
    text: `select ${USER} from users where user_id = $1`,
    values: [user_id],
  });
  return result.rows[0];
}

/** Returns all people, oldest first, with the workspaces they are members of. For the operator's commands alone. */
export async function listUsers(
  db: Queryable,
): Promise<(Pick<User, 'user_id' | 'email' | 'name' | 'disabled_at'> & { workspaces: string[] })[]> {
  const result = await db.query<
    Pick<User, 'user_id' | 'email' | 'name' | 'disabled_at'> & { workspaces: string[] }
  >({
    text: `select u.user_id, u.email, u.name, u.disabled_at,
        array(select m.workspace_id || ' ' || m.role || case when ${IS_PENDING} then ' (to be accepted)' else '' end from members m where m.user_id = u.user_id and m.removed_at is null
          order by m.workspace_id) as workspaces
      from users u order by u.user_id`,
  });
  return result.rows;
}

/** Returns the workspaces that a person is a member of, those that they have yet to accept too, in the order of joining. */
export async function listMemberships(db: Queryable, user_id: string): Promise<Membership[]> {
  const result = await db.query<Membership & { workspace_id: string }>({
    name: 'list_memberships',
    text: `select m.workspace_id, w.name, w.time_zone, m.role, m.principal_id, m.away_until, m.away_delegate, ${IS_PENDING} as is_pending
      from members m join workspaces w on w.workspace_id = m.workspace_id join users u on u.user_id = m.user_id
      where m.user_id = $1 and m.removed_at is null order by m.joined_at, m.workspace_id`,
    values: [user_id],
  });
  return result.rows;
}

/**
 * Stores the same password hashed in the way of today. Does nothing if the person has another one by now.
 */
export async function rehashPassword(
  db: Queryable,
  { user_id, password_hash }: Pick<User, 'user_id' | 'password_hash'>,
  rehashed: string,
): Promise<boolean> {
  const result = await db.query({
    name: 'rehash_password',
    text: 'update users set password_hash = $3 where user_id = $1 and password_hash = $2',
    values: [user_id, password_hash, rehashed],
  });
  return result.rowCount === 1;
}

/** The effects of a new credential epoch of a person. */
export interface NewEpoch {
  /** The password from now on; null: none. */
  password_hash: string | null;
  /** Something proved that the e-mail is the person's. */
  is_proof: boolean;
  /** The session that goes on into the new epoch, and with it the passkeys; null: every credential ends. */
  kept_session_id: string | null;
}

/**
 * Returns the first moment after a person joined any workspace; null without one. A statement of its own, since Citus takes no
 * clock in an update that reads memberships.
 */
async function lastJoining(db: Queryable, user_id: string): Promise<string | null> {
  const result = await db.query<{ after_joining: string | null }>({
    name: 'last_joining',
    text: "select max(joined_at) + interval '1 millisecond' as after_joining from members where user_id = $1",
    values: [user_id],
  });
  return result.rows[0]?.after_joining ?? null;
}

/**
 * Raises a person's credential epoch: sessions, passkeys, reset links and pending registrations of passkeys made before it
 * are worth nothing, however late they are stored. Returns the new epoch; null, and changes nothing, if the person is in
 * another epoch than `credential_epoch` by now, or disabled.
 */
export async function raiseEpoch(
  db: Queryable,
  { user_id, credential_epoch }: Pick<User, 'user_id' | 'credential_epoch'>,
  { password_hash, is_proof, kept_session_id }: NewEpoch,
): Promise<number | null> {
  const after_joining = is_proof ? await lastJoining(db, user_id) : null;
  const result = await db.query<{ credential_epoch: number }>({
    name: 'raise_epoch',
    text: `with raised as (
        update users set credential_epoch = credential_epoch + 1, password_hash = $3,
          password_changed_at = clock_timestamp(),
          email_proved_at = case when $4 then coalesce(email_proved_at, greatest(
              date_trunc('milliseconds', clock_timestamp()), $6::timestamptz))
            else email_proved_at end
        where user_id = $1 and credential_epoch = $2 and disabled_at is null
        returning user_id, credential_epoch),
      session_kept as (
        update sessions s set credential_epoch = r.credential_epoch from raised r
        where s.session_id = $5 and s.user_id = r.user_id and s.credential_epoch = $2),
      passkeys_kept as (
        update user_passkeys p set credential_epoch = r.credential_epoch from raised r
        where $5::text is not null and p.user_id = r.user_id and p.credential_epoch = $2)
      select credential_epoch from raised`,
    values: [user_id, credential_epoch, password_hash, is_proof, kept_session_id, after_joining],
  });
  return result.rows[0]?.credential_epoch ?? null;
}

/**
 * The ways in that a person has in their credential epoch. Locks the person until the transaction ends, so that of two at
 * once that take ways away each sees what the other left. Null if they are in another epoch by now.
 */
export async function lockWays(
  client: Client,
  { user_id, credential_epoch }: Pick<User, 'user_id' | 'credential_epoch'>,
): Promise<{ has_password: boolean; passkeys: number; is_linked: boolean } | null> {
  const locked = await client.query({
    name: 'lock_user',
    text: 'select from users where user_id = $1 and credential_epoch = $2 for update',
    values: [user_id, credential_epoch],
  });
  if (locked.rowCount === 0) return null;
  const result = await client.query<{ has_password: boolean; passkeys: number; is_linked: boolean }>({
    name: 'count_ways_in',
    text: `select password_hash is not null as has_password,
        (select count(*) from user_passkeys where user_id = $1 and credential_epoch = $2) as passkeys,
        exists (select from user_identities where user_id = $1) as is_linked
      from users where user_id = $1`,
    values: [user_id, credential_epoch],
  });
  return result.rows[0] ?? null;
}

/**
 * Takes a person's password away and ends all their sessions but one. Returns false, and leaves it, if they have no passkey
 * to come in with; null if they are in another credential epoch by now.
 */
export async function removePassword(
  pool: pg.Pool,
  person: Pick<User, 'user_id' | 'credential_epoch'>,
  kept_session_id: string,
): Promise<boolean | null> {
  return inTransaction(pool, { reading: false }, async (client) => {
    const ways = await lockWays(client, person);
    if (ways === null) return null;
    if (ways.passkeys === 0) return false;
    if (!ways.has_password) return true;
    const raised = await raiseEpoch(client, person, {
      password_hash: null,
      is_proof: false,
      kept_session_id,
    });
    return raised === null ? null : true;
  });
}

/** Sets a person's name. */
export async function setUserName(db: Queryable, user_id: string, name: string): Promise<void> {
  await db.query({
    name: 'set_user_name',
    text: 'update users set name = $2 where user_id = $1',
    values: [user_id, name],
  });
}

/** Lets a disabled person in again, with the ways in that they had. */
export async function enableUser(db: Queryable, user_id: string): Promise<void> {
  await db.query({ text: 'update users set disabled_at = null where user_id = $1', values: [user_id] });
}

/** Disables a person: they are let in nowhere until they are enabled again. */
export async function disableUser(db: Queryable, user_id: string): Promise<void> {
  await db.query({
    text: 'update users set disabled_at = coalesce(disabled_at, clock_timestamp()) where user_id = $1',
    values: [user_id],
  });
}

/** Returns the person whom an identity provider knows by this subject, or undefined. */
export async function findUserByIdentity(
  db: Queryable,
  { issuer, subject }: Identity,
): Promise<User | undefined> {
  const result = await db.query<User & { user_id: string }>({
    name: 'find_user_by_identity',
    text: `select ${USER.replaceAll(/(\w+)/g, 'u.$1')} from user_identities i join users u on u.user_id = i.user_id
      where i.issuer = $1 and i.subject = $2`,
    values: [issuer, subject],
  });
  return result.rows[0];
}

/**
 * Links a person with an identity of a provider that vouches for their e-mail. Where nobody proved the e-mail before, that
 * ends every other credential. Returns the person's credential epoch from now on; null if the provider knows the person by
 * another subject, the identity is another person's, or the person is disabled.
 */
export async function linkIdentity(
  pool: pg.Pool,
  user_id: string,
  { issuer, subject }: Identity,
): Promise<number | null> {
  return inTransaction(pool, { reading: false }, async (client) => {
    const locked = await client.query<Pick<User, 'credential_epoch' | 'email_proved_at'>>({
      name: 'lock_user_to_link',
      text: `select credential_epoch, email_proved_at from users
        where user_id = $1 and disabled_at is null for update`,
      values: [user_id],
    });
    const [user] = locked.rows;
    if (user === undefined) return null;
    const { credential_epoch, email_proved_at } = user;
    const linked = await client.query<Identity & { user_id: string }>({
      name: 'link_identity',
      text: `insert into user_identities (issuer, subject, user_id, created_at)
        select $1, $2, $3, clock_timestamp()
        where not exists (select from user_identities where issuer = $1 and user_id = $3)
        on conflict do nothing`,
      values: [issuer, subject, user_id],
    });
    // Two sign-ins of the same person at once: the other one has linked them.
    if (
      linked.rowCount === 0 &&
      (await findUserByIdentity(client, { issuer, subject }))?.user_id !== user_id
    ) {
      return null;
    }
    if (email_proved_at !== null) return credential_epoch;
    const all_end = { password_hash: null, is_proof: true, kept_session_id: null };
    return raiseEpoch(client, { user_id, credential_epoch }, all_end);
  });
}

/** Returns the invitations that wait for an e-mail, in all workspaces, oldest first. */
export async function listPendingInvitations(
  db: Queryable,
  email: string,
): Promise<{ workspace_id: string; invitation_id: string; principal_id: string | null }[]> {
  const result = await db.query<{ workspace_id: string; invitation_id: string; principal_id: string | null }>(
    {
      name: 'list_pending_invitations',
      text: `select workspace_id, invitation_id, principal_id from invitations
      where email = $1 and accepted_at is null and revoked_at is null and expires_at > clock_timestamp()
      order by invitation_id`,
      values: [email],
    },
  );
  return result.rows;
}

/** Returns whether the link of an invitation was mailed, so that nobody but the owner of the mailbox has seen it. */
export async function wasMailed(
  db: Queryable,
  { workspace_id, invitation_id }: { workspace_id: string; invitation_id: string },
): Promise<boolean> {
  const result = await db.query({
    name: 'was_mailed',
    text: 'select 1 from emails where workspace_id = $1 and invitation_id = $2',
    values: [workspace_id, invitation_id],
  });
  return result.rows.length > 0;
}
