import type { NoticeKind, NoticeStatus } from '@purser/contract/values/channels';
import { firstIdAt } from '@purser/rules/values/ids';
import type pg from 'pg';
import type { SummaryData } from '../../engine/lane/notices.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { isOver } from '../../engine/storage/notices/notices.ts';
import { columns } from './queue-rows.ts';

/** A notice whose delivery is due, with the decision that it is about. */
export interface DueNotice {
  workspace_id: string;
  notice_id: string;
  kind: NoticeKind;
  status: NoticeStatus;
  decision_id: string | null;
  data: string | null;
  /** The decision as it was made; null: the notice is about none. */
  document: string | null;
  /** True if the request can no longer be decided. */
  is_over: boolean;
}

/** Loads notices with their decisions, as they are at `now`. One that was removed has no row. */
export async function loadNotices(
  db: Queryable,
  now: string,
  keys: readonly { workspace_id: string; notice_id: string }[],
): Promise<DueNotice[]> {
  const result = await db.query<DueNotice & pg.QueryResultRow>({
    name: 'load_notices',
    text: `select n.workspace_id, n.notice_id, n.kind, n.status, n.decision_id, n.data, d.document,
        ${isOver('$1')} as is_over
      from unnest($2::text[], $3::text[]) as r(workspace_id, notice_id)
      join notices n on n.workspace_id = r.workspace_id and n.notice_id = r.notice_id
      left join decisions d on d.workspace_id = n.workspace_id and d.decision_id = n.decision_id
      left join decision_states s on s.workspace_id = n.workspace_id and s.decision_id = n.decision_id`,
    values: [now, ...columns(keys, ['workspace_id', 'notice_id'])],
  });
  return result.rows;
}

const MINUTE_MS = 60_000;
/** The most requests that one SUMMARY counts. */
export const MAX_SUMMARIZED = 1_000;

/**
 * Returns the decisions of a minute that wait for a review at `now` and that caused no notice of their own for the recipient,
 * oldest first: at most `MAX_SUMMARIZED` and one more.
 */
export async function loadSummarized(
  db: Queryable,
  now: string,
  recipient: { workspace_id: string; recipient_id: string },
  { about, minute }: SummaryData,
): Promise<string[]> {
  const result = await db.query<{ document: string; workspace_id: string }>({
    name: 'load_summarized',
    text: `select d.document from decision_states s
      join decisions d on d.workspace_id = s.workspace_id and d.decision_id = s.decision_id
      where s.workspace_id = $1 and s.decision_id >= $2 and s.decision_id < $3
        and s.review_state = 'PENDING' and s.expires_at > $4 and d.mode = 'ENFORCE'
        and not exists (select from notices n where n.workspace_id = $1 and n.decision_id = s.decision_id
          and n.recipient_id = $5 and n.kind = $6)
      order by s.decision_id limit ${MAX_SUMMARIZED + 1}`,
    values: [
      recipient.workspace_id,
      firstIdAt('decision', minute * MINUTE_MS),
      firstIdAt('decision', (minute + 1) * MINUTE_MS),
      now,
      recipient.recipient_id,
      about,
    ],
  });
  return result.rows.map(({ document }) => document);
}

/** The result of an attempt to send a notice. */
export interface NoticeResult {
  workspace_id: string;
  recipient_id: string;
  notice_id: string;
  /** The value with which the delivery was loaded. */
  due_at: string;
  status: 'SENT' | 'RETRYING' | 'FAILED' | 'OBSOLETE';
  attempts: number;
  error: string | null;
  /** When the attempt ended. */
  ended_at: string;
  /** When the delivery is due again; null: never. */
  next_due_at: string | null;
}

/** A channel whose attempts failed on end, for the first time with these results. */
export interface FailingChannel {
  workspace_id: string;
  channel_id: string;
  failing_since: string;
  error: string;
}

/** The health that results leave a channel with, in their order. */
interface HealthChange {
  workspace_id: string;
  channel_id: string;
  /** Failures after the last success among the results. */
  failures: number;
  succeeded_at: string | null;
  failed_at: string | null;
  error: string | null;
}

function healthChanges(results: readonly NoticeResult[]): HealthChange[] {
  const changes = new Map<string, HealthChange>();
  for (const { workspace_id, recipient_id, status, ended_at, error } of results) {
    if (!recipient_id.startsWith('chn_') || status === 'OBSOLETE') continue;
    const name = `${workspace_id} ${recipient_id}`;
    const none = { failures: 0, succeeded_at: null, failed_at: null, error: null };
    const before = changes.get(name) ?? { workspace_id, channel_id: recipient_id, ...none };
    const after =
      status === 'SENT'
        ? { ...before, ...none, succeeded_at: ended_at }
        : {
            ...before,
            failures: before.failures + 1,
            failed_at: before.failed_at ?? ended_at,
            error: error ?? before.error,
          };
    changes.set(name, after);
  }
  // Rows are locked in one order, so that no two workers wait for each other.
  return [...changes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change);
}

/**
 * Records results. Each delivery is removed from its queue or becomes due again at `next_due_at`, its notice has the
 * result, and its channel the health. A delivery that is no longer due at `due_at` is left unchanged, and its notice with
 * it. Returns the channels that have failed `failing_after` times on end since their last success.
 */
export async function recordNotices(
  db: Queryable,
  results: readonly NoticeResult[],
  failing_after: number,
): Promise<FailingChannel[]> {
  const changes = healthChanges(results);
  const recorded = await db.query<FailingChannel & pg.QueryResultRow>({
    name: 'record_notices',
    text: `with r as materialized (
        select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::integer[],
          $7::text[], $8::timestamptz[], $9::timestamptz[])
        as r(workspace_id, recipient_id, notice_id, due_at, status, attempts, error, ended_at, next_due_at)),
      gone as (
        delete from webhook_deliveries d using r
        where d.workspace_id = r.workspace_id and d.endpoint_id = r.recipient_id and d.due_at = r.due_at
          and d.event_id = r.notice_id
        returning r.*),
      again as (
        insert into webhook_deliveries (workspace_id, endpoint_id, due_at, event_id, attempts)
        select workspace_id, recipient_id, next_due_at, notice_id, attempts from gone where next_due_at is not null
        on conflict do nothing),
      noted as (
        update notices n set status = gone.status, attempts = gone.attempts, error = gone.error,
          due_at = coalesce(gone.next_due_at, gone.ended_at)
        from gone where n.workspace_id = gone.workspace_id and n.notice_id = gone.notice_id
          and n.status in ('SCHEDULED', 'RETRYING')),
      health as (
        insert into channel_health as h (workspace_id, channel_id, failures, last_success_at, failing_since, last_error)
        select c.workspace_id, c.channel_id, c.failures, c.succeeded_at, c.failed_at, c.error
        from unnest($10::text[], $11::text[], $12::integer[], $13::timestamptz[], $14::timestamptz[], $15::text[])
          as c(workspace_id, channel_id, failures, succeeded_at, failed_at, error)
        join channels k on k.workspace_id = c.workspace_id and k.channel_id = c.channel_id
        order by c.workspace_id, c.channel_id
        on conflict (workspace_id, channel_id) do update set
          failures = case when excluded.last_success_at is null then h.failures else 0 end + excluded.failures,
          failing_since = case when excluded.last_success_at is null then coalesce(h.failing_since, excluded.failing_since)
            else excluded.failing_since end,
          last_success_at = coalesce(excluded.last_success_at, h.last_success_at),
          last_error = coalesce(excluded.last_error, h.last_error)
        returning workspace_id, channel_id, failures, failing_since, last_error)
      select workspace_id, channel_id, failing_since, coalesce(last_error, '') as error from health
      where failures >= $16 and failing_since is not null`,
    values: [
      ...columns(results, [
        'workspace_id',
        'recipient_id',
        'notice_id',
        'due_at',
        'status',
        'attempts',
        'error',
        'ended_at',
        'next_due_at',
      ]),
      ...columns(changes, ['workspace_id', 'channel_id', 'failures', 'succeeded_at', 'failed_at', 'error']),
      failing_after,
    ],
  });
  return recorded.rows;
}
