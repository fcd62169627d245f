import type { NoticeStatus } from '@purser/contract/values/channels';
import type { Notice } from '@purser/rules/notices/channels';
import type pg from 'pg';
import type { Queryable } from '../database.ts';
import { makeInsert } from '../rows.ts';

/** Inserts notices. One that exists already stays as it is. */
export const insertNotices = makeInsert<Notice>(
  'notices',
  {
    notice_id: 'text',
    kind: 'text',
    decision_id: 'text',
    recipient_id: 'text',
    recipient: 'text',
    status: 'text',
    due_at: 'timestamptz',
    attempts: 'integer',
    error: 'text',
    data: 'text',
  },
  { conflict: ['notice_id'], update: [] },
);

/** The requests of an agent that waited for a review in a minute of the chain. */
export interface NoticeBurst {
  agent_id: string;
  minute: number;
  requested: number;
}

/** Inserts and updates the counts of requests. */
export const putNoticeBursts = makeInsert<NoticeBurst>(
  'notice_bursts',
  { agent_id: 'text', minute: 'bigint', requested: 'integer' },
  { conflict: ['agent_id'], update: ['minute', 'requested'], mostly_there: true },
);

/** Returns the counts of these agents' requests: a row for each, so that a batch also knows of those without any. */
export async function loadNoticeBursts(
  db: Queryable,
  wanted: readonly { workspace_id: string; agent_id: string }[],
): Promise<(NoticeBurst & { workspace_id: string })[]> {
  const result = await db.query<NoticeBurst & { workspace_id: string }>({
    name: 'load_notice_bursts',
    text: `select w.workspace_id, w.agent_id, coalesce(b.minute, 0) as minute, coalesce(b.requested, 0) as requested
      from unnest($1::text[], $2::text[]) as w(workspace_id, agent_id)
      left join lateral (
        select minute, requested from notice_bursts n
        where n.workspace_id = w.workspace_id and n.agent_id = w.agent_id limit 1) as b on true`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.agent_id)],
  });
  return result.rows;
}

/** The kinds of notices that say a request waits, and so say nothing once it was decided. */
export const WAITING_KINDS = ['REQUESTED', 'REMINDER', 'ESCALATED'] as const;

/**
 * True, in SQL, where the request of the notice `n` can no longer be decided. Its decision's state is `s`, and `moment` is
 * the time.
 */
export const isOver = (moment: string) =>
  `(n.kind in (${WAITING_KINDS.map((kind) => `'${kind}'`).join(', ')})
    and (s.review_state is distinct from 'PENDING' or s.expires_at <= ${moment}))`;

/** A notice as the API lists it. */
export interface ListedNotice extends Omit<Notice, 'data' | 'recipient_id'> {
  channel_id: string | null;
}

/** The filters of a list of notices, all of which must match. */
export interface NoticeFilters {
  decision?: string | undefined;
  channel?: string | undefined;
  status?: readonly NoticeStatus[] | undefined;
}

/** Returns a page of notices older than `after`, newest first, each with its status at this moment. */
export async function listNotices(
  db: Queryable,
  workspace_id: string,
  filters: NoticeFilters,
  page: { after: string | null; limit: number },
): Promise<ListedNotice[]> {
  const conditions = ['n.workspace_id = $1'];
  const values: unknown[] = [workspace_id];
  const narrow = (condition: (parameter: string) => string, value: unknown) => {
    if (value === undefined || value === null) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  narrow((p) => `n.decision_id = ${p}`, filters.decision);
  narrow((p) => `n.recipient_id = ${p} and n.recipient_id <> ''`, filters.channel);
  narrow((p) => `n.notice_id < ${p}`, page.after);
  narrow((p) => `o.status = any(${p}::text[])`, filters.status);
  values.push(page.limit);
  const result = await db.query<ListedNotice & pg.QueryResultRow>({
    text: `select n.notice_id, n.kind, n.decision_id, n.recipient, o.status, n.due_at, n.attempts, n.error,
        case when n.recipient_id like 'chn\\_%' then n.recipient_id end as channel_id
      from notices n
      left join decision_states s on s.workspace_id = n.workspace_id and s.decision_id = n.decision_id
      cross join lateral (select case
        when n.status in ('SCHEDULED', 'RETRYING') and ${isOver('(select clock_timestamp())')} then 'OBSOLETE'
        else n.status end as status) as o
      where ${conditions.join(' and ')} order by n.notice_id desc limit $${values.length}`,
    values,
  });
  return result.rows;
}
