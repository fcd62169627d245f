import type pg from 'pg';
import type { User } from '../domain/people.ts';
import type { Client, Queryable } from '../storage/database.ts';
import type { Identity } from '../storage/members.ts';
import type { Membership } from '../storage/sessions.ts';
import { inTransaction } from '../storage/transactions.ts';

const USER = 'user_id, email, name, password_hash, created_at, disabled_at';

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
        array(select m.workspace_id || ' ' || m.role from members m where m.user_id = u.user_id and m.removed_at is null
          order by m.workspace_id) as workspaces
      from users u order by u.user_id`,
  });
  return result.rows;
}

/** Returns the workspaces that a person is a member of, in the order in which they joined. */
export async function listMemberships(db: Queryable, user_id: string): Promise<Membership[]> {
  const result = await db.query<Membership & { workspace_id: string }>({
    name: 'list_memberships',
    text: `select m.workspace_id, w.name, m.role, m.principal_id
      from members m join workspaces w on w.workspace_id = m.workspace_id
      where m.user_id = $1 and m.removed_at is null order by m.joined_at, m.workspace_id`,
    values: [user_id],
  });
  return result.rows;
}

/** Sets a password in place of the one that is given. Returns false if the person has another one by now. */
export async function replacePassword(
  db: Queryable,
  { user_id, password_hash }: Pick<User, 'user_id' | 'password_hash'>,
  by: string,
): Promise<boolean> {
  const result = await db.query({
    name: 'replace_password',
    text: `update users set password_hash = $3, password_changed_at = clock_timestamp()
      where user_id = $1 and password_hash is not distinct from $2`,
    values: [user_id, password_hash, by],
  });
  return result.rowCount === 1;
}

/**
 * The ways in that a person has beside their password. Locks the person until the transaction ends, so that of two at once
 * that take ways away each sees what the other left.
 */
export async function lockWays(
  client: Client,
  user_id: string,
): Promise<{ has_password: boolean; passkeys: number; is_linked: boolean }> {
  await client.query({
    name: 'lock_user',
    text: 'select from users where user_id = $1 for update',
    values: [user_id],
  });
  const result = await client.query<{ has_password: boolean; passkeys: number; is_linked: boolean }>({
    name: 'count_ways_in',
    text: `select password_hash is not null as has_password,
        (select count(*) from user_passkeys where user_id = $1) as passkeys,
        exists (select from user_identities where user_id = $1) as is_linked
      from users where user_id = $1`,
    values: [user_id],
  });
  return result.rows[0] ?? { has_password: false, passkeys: 0, is_linked: false };
}

/** Takes a person's password away. Returns false, and leaves it, if they have no passkey to come in with. */
export async function removePassword(pool: pg.Pool, user_id: string): Promise<boolean> {
  return inTransaction(pool, { reading: false }, async (client) => {
    const { passkeys } = await lockWays(client, user_id);
    if (passkeys === 0) return false;
    await client.query({
      name: 'remove_password',
      text: `update users set password_hash = null, password_changed_at = clock_timestamp()
        where user_id = $1 and password_hash is not null`,
      values: [user_id],
    });
    return true;
  });
}

/** Takes from a person every way in but the identity provider: the password and the passkeys; and ends all sessions. */
export async function leaveProviderAlone(db: Queryable, user_id: string): Promise<void> {
  await db.query({
    name: 'leave_provider_alone',
    text: `with dropped as (delete from user_passkeys where user_id = $1),
      ended as (update sessions set revoked_at = clock_timestamp() where user_id = $1 and revoked_at is null)
      update users set password_hash = null, password_changed_at = clock_timestamp() where user_id = $1`,
    values: [user_id],
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
 * Links a person with an identity of a provider that knows them by no other subject. Returns false if it does, or if the
 * identity is another person's.
 */
export async function linkIdentity(db: Queryable, user_id: string, identity: Identity): Promise<boolean> {
  const result = await db.query({
    name: 'link_identity',
    text: `insert into user_identities (issuer, subject, user_id, created_at)
      select $1, $2, $3, clock_timestamp()
      where not exists (select 1 from user_identities where issuer = $1 and user_id = $3)
      on conflict do nothing`,
    values: [identity.issuer, identity.subject, user_id],
  });
  return result.rowCount === 1;
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
