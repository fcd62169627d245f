import type { Invitation, Member, User } from '@purser/rules/domain/people';
import type { Queryable } from './database.ts';
import { type InWorkspace, makeInsert, mapParts, msOf, type Write } from './rows.ts';

/** Holds for a membership `m` of a person `u` that is from before the e-mail was proved: its owner has yet to accept it. */
export const IS_PENDING = 'coalesce(m.joined_at < u.email_proved_at, false)';
/** Holds for a membership that gives what its role does. */
export const IS_ACTIVE = `(m.removed_at is null and not ${IS_PENDING})`;

/** The person's e-mail is kept with the person, and is part of what is sealed of a membership. */
const MEMBER = `m.user_id, u.email, m.role, m.principal_id, m.joined_at, m.removed_at, m.away_until, m.away_delegate,
  ${IS_PENDING} as is_pending, u.email_proved_at`;
const USER = `u.user_id, u.email, u.name, u.password_hash, u.created_at, u.disabled_at, u.credential_epoch,
  u.email_proved_at`;
const INVITATION =
  'invitation_id, email, role, principal_id, invited_by_key_id, invited_by_person, created_at, expires_at, accepted_at, accepted_by, revoked_at';

const workspaceIds = (wanted: readonly InWorkspace<object>[]) => wanted.map((each) => each.workspace_id);

/** Returns members by the ids of their users, removed ones included; unknown ones are left out. */
export async function loadMembers(
  db: Queryable,
  wanted: readonly InWorkspace<{ user_id: string }>[],
): Promise<InWorkspace<Member>[]> {
  const result = await db.query<InWorkspace<Member>>({
    name: 'load_members',
    text: `select m.workspace_id, ${MEMBER} from unnest($1::text[], $2::text[]) as w(workspace_id, user_id)
      join members m on m.workspace_id = w.workspace_id and m.user_id = w.user_id
      join users u on u.user_id = m.user_id`,
    values: [workspaceIds(wanted), wanted.map((each) => each.user_id)],
  });
  return result.rows;
}

/** Returns the members of these workspaces who may review, administrators among them. */
export async function loadReviewers(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<InWorkspace<Member>[]> {
  const result = await db.query<InWorkspace<Member>>({
    name: 'load_reviewers',
    text: `select m.workspace_id, ${MEMBER} from members m join users u on u.user_id = m.user_id
      where m.workspace_id = any($1) and m.role in ('admin', 'reviewer') and m.removed_at is null`,
    values: [workspace_ids],
  });
  return result.rows;
}

/** Returns the members who may review now: without those whose membership is pending or whose account is disabled. */
export async function loadActiveReviewers(db: Queryable, workspace_id: string): Promise<Member[]> {
  const result = await db.query<InWorkspace<Member>>({
    name: 'load_active_reviewers',
    text: `select m.workspace_id, ${MEMBER} from members m join users u on u.user_id = m.user_id
      where m.workspace_id = $1 and m.role in ('admin', 'reviewer') and ${IS_ACTIVE} and u.disabled_at is null`,
    values: [workspace_id],
  });
  return result.rows;
}

/** Returns the members of these workspaces whose account is disabled. */
export async function loadDisabledMembers(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<InWorkspace<Pick<Member, 'user_id'>>[]> {
  const result = await db.query<InWorkspace<Pick<Member, 'user_id'>>>({
    name: 'load_disabled_members',
    text: `select m.workspace_id, m.user_id from members m join users u on u.user_id = m.user_id
      where m.workspace_id = any($1) and m.removed_at is null and u.disabled_at is not null`,
    values: [workspace_ids],
  });
  return result.rows;
}

/** Returns the members who have these principals, removed ones included. */
export async function loadMembersByPrincipal(
  db: Queryable,
  wanted: readonly InWorkspace<{ principal_id: string }>[],
): Promise<InWorkspace<Member>[]> {
  const result = await db.query<InWorkspace<Member>>({
    name: 'load_members_by_principal',
    text: `select m.workspace_id, ${MEMBER} from unnest($1::text[], $2::text[]) as w(workspace_id, principal_id)
      join members m on m.workspace_id = w.workspace_id and m.principal_id = w.principal_id
      join users u on u.user_id = m.user_id`,
    values: [workspaceIds(wanted), wanted.map((each) => each.principal_id)],
  });
  return result.rows;
}

/** Returns the people with these e-mails, whether or not they are members of the workspace; and their memberships. */
export async function loadPeopleByEmail(
  db: Queryable,
  wanted: readonly InWorkspace<{ email: string }>[],
): Promise<InWorkspace<{ user: User; member: Member | null }>[]> {
  const result = await db.query<InWorkspace<User & Omit<Member, 'user_id' | 'email' | 'email_proved_at'>>>({
    name: 'load_people_by_email',
    text: `select w.workspace_id, ${USER}, m.role, m.principal_id, m.joined_at, m.removed_at,
        m.away_until, m.away_delegate, ${IS_PENDING} as is_pending
      from unnest($1::text[], $2::text[]) as w(workspace_id, email) join users u on u.email = w.email
      left join members m on m.workspace_id = w.workspace_id and m.user_id = u.user_id`,
    values: [workspaceIds(wanted), wanted.map((each) => each.email)],
  });
  return result.rows.map(
    ({
      workspace_id,
      role,
      principal_id,
      joined_at,
      removed_at,
      away_until,
      away_delegate,
      is_pending,
      ...user
    }) => {
      const { user_id, email, email_proved_at } = user;
      const standing = { role, principal_id, joined_at, removed_at, away_until, away_delegate, is_pending };
      const member = role === null ? null : { user_id, email, ...standing, email_proved_at };
      return { workspace_id, user, member };
    },
  );
}

/** Returns one row for each of these workspaces if there is any person in the installation, else none. */
export async function loadAnyPerson(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<InWorkspace<object>[]> {
  const result = await db.query<InWorkspace<object>>({
    name: 'load_any_person',
    text: 'select workspace_id from unnest($1::text[]) as w(workspace_id) where exists (select 1 from users)',
    values: [workspace_ids],
  });
  return result.rows;
}

/** Returns invitations by id; unknown ones are left out. */
export async function loadInvitations(
  db: Queryable,
  wanted: readonly InWorkspace<{ invitation_id: string }>[],
): Promise<InWorkspace<Invitation>[]> {
  const result = await db.query<InWorkspace<Invitation>>({
    name: 'load_invitations',
    text: `select i.workspace_id, ${INVITATION.replaceAll(/(\w+)/g, 'i.$1')}
      from unnest($1::text[], $2::text[]) as w(workspace_id, invitation_id)
      join invitations i on i.workspace_id = w.workspace_id and i.invitation_id = w.invitation_id`,
    values: [workspaceIds(wanted), wanted.map((each) => each.invitation_id)],
  });
  return result.rows;
}

/** Returns the invitations of these e-mails that were neither accepted nor revoked, expired ones included. */
export async function loadInvitationsByEmail(
  db: Queryable,
  wanted: readonly InWorkspace<{ email: string }>[],
): Promise<InWorkspace<Invitation>[]> {
  const result = await db.query<InWorkspace<Invitation>>({
    name: 'load_invitations_by_email',
    text: `select i.workspace_id, ${INVITATION.replaceAll(/(\w+)/g, 'i.$1')}
      from unnest($1::text[], $2::text[]) as w(workspace_id, email)
      join invitations i on i.email = w.email and i.workspace_id = w.workspace_id
        and i.accepted_at is null and i.revoked_at is null`,
    values: [workspaceIds(wanted), wanted.map((each) => each.email)],
  });
  return result.rows;
}

/** Returns the invitations of these workspaces that were neither accepted nor revoked, expired ones included. */
export async function loadPendingInvitations(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<InWorkspace<Invitation>[]> {
  const result = await db.query<InWorkspace<Invitation>>({
    name: 'load_pending_invitations',
    text: `select workspace_id, ${INVITATION} from invitations
      where workspace_id = any($1) and accepted_at is null and revoked_at is null`,
    values: [workspace_ids],
  });
  return result.rows;
}

/** Returns the names of the people with these principals, former members included, by principal. */
export async function loadMemberNames(
  db: Queryable,
  workspace_id: string,
  principal_ids: readonly string[],
): Promise<Map<string, string>> {
  const result = await db.query<{ principal_id: string; name: string }>({
    name: 'load_member_names',
    text: `select m.principal_id, u.name from members m join users u on u.user_id = m.user_id
      where m.workspace_id = $1 and m.principal_id = any($2)`,
    values: [workspace_id, principal_ids],
  });
  return new Map(result.rows.map(({ principal_id, name }) => [principal_id, name]));
}

/** A member as the list shows it. */
export interface ListedMember extends Member {
  name: string;
  disabled_at: string | null;
  last_seen_at: string | null;
}

/** Returns a page of current members by the ids of their users, newest first, or one of them with `user_id`. */
export async function listMembers(
  db: Queryable,
  workspace_id: string,
  page: { after: string | null; limit: number; user_id?: string },
): Promise<ListedMember[]> {
  const result = await db.query<ListedMember>({
    name: 'list_members',
    text: `select ${MEMBER}, u.name, u.disabled_at,
        (select max(s.last_seen_at) from sessions s where s.user_id = m.user_id and s.workspace_id = $1) as last_seen_at
      from members m join users u on u.user_id = m.user_id
      where m.workspace_id = $1 and m.removed_at is null and ($2::text is null or m.user_id < $2)
        and ($4::text is null or m.user_id = $4)
      order by m.user_id desc limit $3`,
    values: [workspace_id, page.after, page.limit, page.user_id ?? null],
  });
  return result.rows;
}

/** Returns a page of all rows of members for verification, in the order of `user_id`; a lost person's e-mail is null. */
export async function listAllMembers(
  db: Queryable,
  workspace_id: string,
  page: { after: string; limit: number },
): Promise<Member[]> {
  const result = await db.query<Member>({
    name: 'list_all_members',
    text: `select ${MEMBER} from members m left join users u on u.user_id = m.user_id
      where m.workspace_id = $1 and m.user_id > $2 order by m.user_id limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

/** Returns a page of invitations, newest first. */
export async function listInvitations(
  db: Queryable,
  workspace_id: string,
  page: { after: string | null; limit: number },
): Promise<(Invitation & { clock_ms: number })[]> {
  const result = await db.query<Invitation & { clock_ms: number }>({
    name: 'list_invitations',
    text: `select ${INVITATION}, ${msOf('clock_timestamp()')} as clock_ms
      from invitations where workspace_id = $1 and ($2::text is null or invitation_id < $2)
      order by invitation_id desc limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

const put = makeInsert<Omit<Member, 'email' | 'is_pending' | 'email_proved_at'>>(
  'members',
  {
    user_id: 'text',
    role: 'text',
    principal_id: 'text',
    joined_at: 'timestamptz',
    removed_at: 'timestamptz',
    away_until: 'timestamptz',
    away_delegate: 'text',
  },
  {
    conflict: ['user_id'],
    update: ['role', 'principal_id', 'joined_at', 'removed_at', 'away_until', 'away_delegate'],
  },
);

/** Inserts members and updates those whose role changed, who were removed or who joined again. */
export const putMembers: Write<Member> = (client, parts) =>
  put(
    client,
    mapParts(parts, ({ email, is_pending, email_proved_at, ...row }) => row),
  );

/** Inserts invitations and updates those that were accepted or revoked. */
export const putInvitations = makeInsert<Invitation>(
  'invitations',
  {
    invitation_id: 'text',
    email: 'text',
    role: 'text',
    principal_id: 'text',
    invited_by_key_id: 'text',
    invited_by_person: 'text',
    created_at: 'timestamptz',
    expires_at: 'timestamptz',
    accepted_at: 'timestamptz',
    accepted_by: 'text',
    revoked_at: 'timestamptz',
  },
  { conflict: ['invitation_id'], update: ['accepted_at', 'accepted_by', 'revoked_at'] },
);

/** The mail that takes an invitation's link to its mailbox. */
export interface InvitationEmail {
  email_id: string;
  kind: 'INVITATION';
  recipient: string;
  invitation_id: string;
  created_at: string;
  due_at: string;
}

/** Inserts mails to be sent. */
export const insertInvitationEmails = makeInsert<InvitationEmail>('emails', {
  email_id: 'text',
  kind: 'text',
  recipient: 'text',
  invitation_id: 'text',
  created_at: 'timestamptz',
  due_at: 'timestamptz',
});

/** A person who joins for the first time, with the identity by which a provider knows them, if any. */
export interface NewUser extends User {
  identity: Identity | null;
}

/** A person's identity at an identity provider. */
export interface Identity {
  issuer: string;
  subject: string;
}

/** Inserts people. Fails on the unique e-mail if the same person joined another workspace at the same time. */
export const insertUsers: Write<NewUser> = (client, parts) => {
  const users = parts.flatMap(({ rows }) => rows);
  const of = <Column extends keyof User>(column: Column) => users.map((user) => user[column]);
  return client.query({
    name: 'insert_users',
    text: `with made as (
        insert into users (user_id, email, name, password_hash, password_changed_at, created_at, credential_epoch,
          email_proved_at)
        select user_id, email, name, password_hash, case when password_hash is not null then created_at end, created_at,
          credential_epoch, email_proved_at
        from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $8::int[], $9::timestamptz[])
          as r(user_id, email, name, password_hash, created_at, credential_epoch, email_proved_at)
        returning user_id, created_at)
      insert into user_identities (issuer, subject, user_id, created_at)
      select i.issuer, i.subject, i.user_id, m.created_at
      from unnest($1::text[], $6::text[], $7::text[]) as i(user_id, issuer, subject)
      join made m on m.user_id = i.user_id where i.issuer is not null`,
    values: [
      of('user_id'),
      of('email'),
      of('name'),
      of('password_hash'),
      of('created_at'),
      users.map(({ identity }) => identity?.issuer ?? null),
      users.map(({ identity }) => identity?.subject ?? null),
      of('credential_epoch'),
      of('email_proved_at'),
    ],
  });
};
