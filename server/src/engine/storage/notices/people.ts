import type { NotificationSettings } from '@purser/contract/routes/people/notifications';
import type { NotifiedPerson } from '@purser/rules/notices/people';
import type { Queryable } from '../database.ts';
import { IS_ACTIVE } from '../members.ts';
import { type InWorkspace, makeInsert } from '../rows.ts';

/** A member, in SQL, who may review, can sign in and has a proved e-mail; `m` and `u` are member and user. */
const MAY_GET_MAIL = `m.role in ('admin', 'reviewer') and ${IS_ACTIVE} and u.disabled_at is null
  and u.email_proved_at is not null`;

/** Returns the members of these workspaces who are mailed notices. */
export async function loadNotifiedPeople(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<InWorkspace<NotifiedPerson>[]> {
  const result = await db.query<InWorkspace<NotifiedPerson>>({
    name: 'load_notified_people',
    text: `select m.workspace_id, m.user_id as recipient_id, m.principal_id as name, m.principal_id,
        null::json as filter, n.quiet_hours, coalesce(a.stands_for, '[]') as stands_for
      from members m join users u on u.user_id = m.user_id
      left join notification_settings n on n.user_id = m.user_id
      left join (select workspace_id, away_delegate,
            json_agg(json_build_object('principal_id', principal_id, 'until', away_until)) as stands_for
          from members where workspace_id = any($1) and away_until is not null and removed_at is null
          group by workspace_id, away_delegate) a
        on a.workspace_id = m.workspace_id and a.away_delegate = m.principal_id
      where m.workspace_id = any($1) and ${MAY_GET_MAIL} and coalesce(n.email, 'MINE') = 'MINE'
      order by m.workspace_id, m.user_id`,
    values: [workspace_ids],
  });
  return result.rows;
}

/** A person's settings; those that were never put are the defaults. `sent_to` null: nothing proved the e-mail. */
export type StoredSettings = NotificationSettings & { sent_to: string | null };

const DEFAULTS: NotificationSettings = { time_zone: 'UTC', email: 'MINE', digest: 'NONE', quiet_hours: null };

/** Returns a person's settings. */
export async function findNotificationSettings(db: Queryable, user_id: string): Promise<StoredSettings> {
  type Row = { sent_to: string | null } & {
    [Name in keyof NotificationSettings]: NotificationSettings[Name] | null;
  };
  const result = await db.query<Row>({
    name: 'find_notification_settings',
    text: `select case when u.email_proved_at is not null then u.email end as sent_to,
        n.time_zone, n.email, n.digest, n.quiet_hours
      from users u left join notification_settings n on n.user_id = u.user_id where u.user_id = $1`,
    values: [user_id],
  });
  const [row] = result.rows;
  const { time_zone, email, digest, quiet_hours } = row ?? {};
  return {
    time_zone: time_zone ?? DEFAULTS.time_zone,
    email: email ?? DEFAULTS.email,
    digest: digest ?? DEFAULTS.digest,
    quiet_hours: quiet_hours ?? null,
    sent_to: row?.sent_to ?? null,
  };
}

/** Stores a person's settings. A digest that is due and was not made yet stays due. `next_digest_at` null: there is none. */
export async function putNotificationSettings(
  db: Queryable,
  user_id: string,
  { time_zone, email, digest, quiet_hours }: NotificationSettings,
  next_digest_at: string | null,
): Promise<void> {
  await db.query({
    name: 'put_notification_settings',
    text: `insert into notification_settings as n (user_id, time_zone, email, digest, quiet_hours, next_digest_at)
      values ($1, $2, $3, $4, $5, $6)
      on conflict (user_id) do update set time_zone = $2, email = $3, digest = $4, quiet_hours = $5,
        next_digest_at = case when $6::timestamptz is not null and n.next_digest_at <= clock_timestamp()
          then n.next_digest_at else $6 end`,
    values: [
      user_id,
      time_zone,
      email,
      digest,
      quiet_hours === null ? null : JSON.stringify(quiet_hours),
      next_digest_at,
    ],
  });
}

/** A person whose digest is due, with the workspaces in which they may review. */
export interface DueDigest {
  user_id: string;
  time_zone: string;
  /** ISO 8601 UTC. */
  due_at: string;
  workspaces: { workspace_id: string; principal_id: string; role: 'admin' | 'reviewer' }[];
}

/** Returns up to `limit` people whose digest is due, the oldest first. */
export async function listDueDigests(db: Queryable, limit: number): Promise<DueDigest[]> {
  const result = await db.query<DueDigest>({
    name: 'list_due_digests',
    text: `select n.user_id, n.time_zone, n.next_digest_at as due_at,
        coalesce((select json_agg(json_build_object('workspace_id', m.workspace_id, 'principal_id', m.principal_id,
            'role', m.role) order by m.workspace_id)
          from members m join users u on u.user_id = m.user_id
          where m.user_id = n.user_id and ${MAY_GET_MAIL}), '[]') as workspaces
      from notification_settings n where n.next_digest_at <= clock_timestamp()
      order by n.next_digest_at, n.user_id limit $1`,
    values: [limit],
  });
  return result.rows;
}

/** Notes when a person's next digest is due, unless that was changed meanwhile. */
export async function advanceDigest(
  db: Queryable,
  { user_id, due_at }: Pick<DueDigest, 'user_id' | 'due_at'>,
  next_digest_at: string,
): Promise<void> {
  await db.query({
    name: 'advance_digest',
    text: 'update notification_settings set next_digest_at = $3 where user_id = $1 and next_digest_at = $2',
    values: [user_id, due_at, next_digest_at],
  });
}

/** The last digest of a member. */
export interface LastDigest {
  user_id: string;
  due_at: string;
}

/** Returns the last digests of these members. */
export async function loadLastDigests(
  db: Queryable,
  wanted: readonly InWorkspace<{ user_id: string }>[],
): Promise<InWorkspace<LastDigest>[]> {
  const result = await db.query<InWorkspace<LastDigest>>({
    name: 'load_last_digests',
    text: `select d.workspace_id, d.user_id, d.due_at from unnest($1::text[], $2::text[]) as w(workspace_id, user_id)
      join digests d on d.workspace_id = w.workspace_id and d.user_id = w.user_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.user_id)],
  });
  return result.rows;
}

/** Inserts and updates the last digests of members. */
export const putLastDigests = makeInsert<LastDigest>(
  'digests',
  { user_id: 'text', due_at: 'timestamptz' },
  { conflict: ['user_id'], update: ['due_at'] },
);
