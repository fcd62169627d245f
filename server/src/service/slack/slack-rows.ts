import { SLACK_CODE_MINUTES } from '@purser/contract/routes/people/slack';
import type { Role } from '@purser/contract/values/scopes';
import { CLOCK_TOLERANCE_MS } from '@purser/rules/values/clock-tolerance';
import type pg from 'pg';
import type { Queryable } from '../../engine/storage/database.ts';
import { IS_ACTIVE } from '../../engine/storage/members.ts';
import { readClock } from '../../engine/storage/workspaces.ts';

/** The member whom an account in Slack speaks for. */
export interface LinkedMember {
  workspace_id: string;
  user_id: string;
  principal_id: string;
  role: Role;
  name: string;
}

/** Returns the active member who has linked an account in the present credential epoch; undefined without one. */
export async function findLinkedMember(
  db: Queryable,
  workspace_id: string,
  slack_account: string,
): Promise<LinkedMember | undefined> {
  const result = await db.query<LinkedMember & pg.QueryResultRow>({
    name: 'find_linked_member',
    text: `select m.workspace_id, m.user_id, m.principal_id, m.role, u.name
      from slack_links l
      join members m on m.workspace_id = l.workspace_id and m.user_id = l.user_id
      join users u on u.user_id = l.user_id and u.credential_epoch = l.credential_epoch
      where l.workspace_id = $1 and l.slack_account = $2 and ${IS_ACTIVE} and u.disabled_at is null`,
    values: [workspace_id, slack_account],
  });
  return result.rows[0];
}

/** Returns the name of the member with a principal, removed ones included; undefined if nobody has it. */
export async function findMemberName(
  db: Queryable,
  workspace_id: string,
  principal_id: string,
): Promise<string | undefined> {
  const result = await db.query<{ workspace_id: string; name: string }>({
    name: 'find_member_name',
    text: `select m.workspace_id, u.name from members m join users u on u.user_id = m.user_id
      where m.workspace_id = $1 and m.principal_id = $2`,
    values: [workspace_id, principal_id],
  });
  return result.rows[0]?.name;
}

/** An account in Slack that a code links. */
export interface OfferedAccount {
  slack_account: string;
  /** As Slack shows it. */
  name: string | null;
}

/** Keeps the digest of a code for an account; its earlier codes, and those that have expired, are good no more. */
export async function saveSlackCode(
  db: Queryable,
  workspace_id: string,
  digest: Buffer,
  { slack_account, name }: OfferedAccount,
): Promise<void> {
  // The time comes with the statement: Citus takes no clock in it.
  const now_ms = await readClock(db);
  await db.query({
    name: 'save_slack_code',
    text: `with old as (
        delete from slack_codes where workspace_id = $1 and (slack_account = $3 or expires_at < $5))
      insert into slack_codes (workspace_id, digest, slack_account, name, expires_at) values ($1, $2, $3, $4, $6)`,
    values: [
      workspace_id,
      digest,
      slack_account,
      name,
      new Date(now_ms).toISOString(),
      new Date(now_ms + SLACK_CODE_MINUTES * 60_000).toISOString(),
    ],
  });
}

type StoredAccount = OfferedAccount & { workspace_id: string };

/** Returns the account of a code that is still good; undefined otherwise. */
export async function readSlackCode(
  db: Queryable,
  workspace_id: string,
  digests: readonly Buffer[],
): Promise<OfferedAccount | undefined> {
  const result = await db.query<StoredAccount>({
    name: 'read_slack_code',
    text: `select workspace_id, slack_account, name from slack_codes
      where workspace_id = $1 and digest = any($2) and expires_at > clock_timestamp()`,
    values: [workspace_id, digests],
  });
  return result.rows[0];
}

/** Uses a code up and returns its account; undefined if it is not good. */
export async function takeSlackCode(
  db: Queryable,
  workspace_id: string,
  digests: readonly Buffer[],
): Promise<OfferedAccount | undefined> {
  const now = new Date(await readClock(db)).toISOString();
  const result = await db.query<StoredAccount>({
    name: 'take_slack_code',
    text: `delete from slack_codes where workspace_id = $1 and digest = any($2) and expires_at > $3
      returning workspace_id, slack_account, name`,
    values: [workspace_id, digests, now],
  });
  return result.rows[0];
}

/** A channel whose connection this worker holds. */
export interface HeldChannel {
  workspace_id: string;
  channel_id: string;
  sealed_settings: string;
}

/** Takes and renews the leases of all active channels of Slack apps that no other worker holds. Returns those held. */
export async function leaseSlackChannels(
  db: Queryable,
  worker: string,
  lease_ms: number,
): Promise<HeldChannel[]> {
  // The time comes with the statement: Citus takes no clock in it.
  const now_ms = await readClock(db);
  const at = (later_ms: number) => new Date(now_ms + later_ms).toISOString();
  const result = await db.query<HeldChannel & pg.QueryResultRow>({
    name: 'lease_slack_channels',
    text: `with gone as (
        delete from slack_connections s where s.workspace_id <> '' and not exists (
          select from channels c where c.workspace_id = s.workspace_id and c.channel_id = s.channel_id
            and c.type = 'slack_app' and c.status = 'active')),
      held as (
        insert into slack_connections as s (workspace_id, channel_id, worker, leased_until)
        select workspace_id, channel_id, $1, $3::timestamptz from channels
        where workspace_id <> '' and type = 'slack_app' and status = 'active'
        order by workspace_id, channel_id
        on conflict (workspace_id, channel_id) do update
          set worker = excluded.worker, leased_until = excluded.leased_until
          where s.worker = excluded.worker or s.leased_until < $2 or s.leased_until > $4
        returning s.workspace_id, s.channel_id)
      select c.workspace_id, c.channel_id, c.sealed_settings from held
      join channels c on c.workspace_id = held.workspace_id and c.channel_id = held.channel_id`,
    values: [worker, at(0), at(lease_ms), at(lease_ms + CLOCK_TOLERANCE_MS)],
  });
  return result.rows;
}

/** Gives the leases of a worker back, so that another takes them at once. */
export async function releaseSlackChannels(db: Queryable, worker: string): Promise<void> {
  await db.query({
    name: 'release_slack_channels',
    text: "delete from slack_connections where workspace_id <> '' and worker = $1",
    values: [worker],
  });
}

/** Returns the settings of an active channel of a Slack app, sealed; undefined if there is none. */
export async function findSlackChannel(
  db: Queryable,
  workspace_id: string,
  channel_id: string,
): Promise<string | undefined> {
  const result = await db.query<{ workspace_id: string; sealed_settings: string }>({
    name: 'find_slack_channel',
    text: `select workspace_id, sealed_settings from channels
      where workspace_id = $1 and channel_id = $2 and type = 'slack_app' and status = 'active'`,
    values: [workspace_id, channel_id],
  });
  return result.rows[0]?.sealed_settings;
}
