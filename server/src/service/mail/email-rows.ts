import type { User } from '@purser/rules/domain/people';
import type { Queryable } from '../../engine/storage/database.ts';
import { msOf } from '../../engine/storage/rows.ts';

/** A mail about an account that is due, with what its text needs. */
export interface DueEmail {
  email_id: string;
  kind: 'INVITATION' | 'RESET';
  recipient: string;
  /** With the one that begins. */
  attempts: number;
  workspace_id: string | null;
  workspace_name: string | null;
  invitation_id: string | null;
  /** The name of the member who invited; null: the operator or a key did. */
  inviter: string | null;
  expires_at: string | null;
  user_id: string | null;
  credential_epoch: number | null;
  /** False: the invitation was used, revoked or is over; or the person was disabled or has another password by now. */
  is_wanted: boolean;
  /** The database's clock, ms. */
  clock_ms: number;
}

/** Adds a password link to be mailed, in the credential epoch that the person is in. */
export async function insertResetEmail(
  db: Queryable,
  email_id: string,
  { user_id, email, credential_epoch }: Pick<User, 'user_id' | 'email' | 'credential_epoch'>,
): Promise<void> {
  await db.query({
    name: 'insert_reset_email',
    text: `insert into emails (email_id, kind, recipient, user_id, credential_epoch, created_at, due_at)
      select $1, 'RESET', $2, $3, $4, now, now from (select clock_timestamp() as now) clock`,
    values: [email_id, email, user_id, credential_epoch],
  });
}

/**
 * Takes up to `limit` due mails for `lease_s`, after which another process may take those without a result. Each counts one
 * attempt.
 */
export async function takeDueEmails(db: Queryable, limit: number, lease_s: number): Promise<DueEmail[]> {
  const result = await db.query<DueEmail>({
    name: 'take_due_emails',
    text: `with taken as (
        update emails set attempts = attempts + 1, due_at = clock_timestamp() + make_interval(secs => $2)
        where email_id in (select email_id from emails where status = 'QUEUED' and due_at <= clock_timestamp()
          order by due_at limit $1 for update skip locked)
        returning *)
      select t.email_id, t.kind, t.recipient, t.attempts, t.workspace_id, t.invitation_id, t.user_id, t.credential_epoch,
        w.name as workspace_name, i.expires_at,
        (select u.name from members m join users u on u.user_id = m.user_id
          where m.workspace_id = i.workspace_id and m.principal_id = i.invited_by_person) as inviter,
        ${msOf('clock_timestamp()')} as clock_ms,
        case t.kind
          when 'INVITATION' then coalesce(i.accepted_at is null and i.revoked_at is null and i.expires_at > clock_timestamp(), false)
          else coalesce(p.disabled_at is null and p.credential_epoch = t.credential_epoch, false)
        end as is_wanted
      from taken t
        left join workspaces w on w.workspace_id = t.workspace_id
        left join invitations i on i.workspace_id = t.workspace_id and i.invitation_id = t.invitation_id
        left join users p on p.user_id = t.user_id
      order by t.email_id`,
    values: [limit, lease_s],
  });
  return result.rows;
}

/** Records the end of an attempt. `retry_s`: when the next one begins; null: `status` is final. */
export async function endAttempt(
  db: Queryable,
  email_id: string,
  { status, error, retry_s }: { status: string; error: string | null; retry_s: number | null },
): Promise<void> {
  await db.query({
    name: 'end_email_attempt',
    text: `update emails set status = $2, error = $3,
        due_at = case when $4::float8 is null then due_at else clock_timestamp() + make_interval(secs => $4) end
      where email_id = $1`,
    values: [email_id, status, error, retry_s],
  });
}

/** Removes mail that was settled 30 days ago or earlier. */
export async function pruneOldEmails(db: Queryable): Promise<void> {
  await db.query({
    name: 'prune_old_emails',
    text: `delete from emails where email_id in (
      select email_id from emails where status <> 'QUEUED' and created_at < clock_timestamp() - interval '30 days' limit 1000)`,
  });
}
