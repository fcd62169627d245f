import { findEverywhere } from '../citus/find-everywhere.ts';
import type { Client, Queryable } from '../storage/database.ts';
import { FOLLOWERS, type FollowerName, type SkippedEvents } from './follower-names.ts';

/** The table of each follower's watermarks. */
const WATERMARKS: Record<FollowerName, string> = {
  report: 'report_watermarks',
  learning: 'feedback_watermarks',
  search: 'search_watermarks',
  coverage: 'coverage_watermarks',
};

/** Events after which a follower looks at a workspace that has nothing for it, in one page. */
const IDLE_EVENTS = 10_000;
/** Where a follower has work only in some workspaces: what says so of the head `h`. */
const HAS_WORK: Partial<Record<FollowerName, string>> = {
  coverage: `exists (select from lines l where l.workspace_id = h.workspace_id)
    or exists (select from line_matches m where m.workspace_id = h.workspace_id)`,
};

/** Every transaction of a follower writes to one of these tables. */
export const WATERMARK_TABLES: readonly string[] = Object.values(WATERMARKS);

/**
 * Workspaces with events beyond a follower's watermark, except those in `without`, at most `limit`. They are in the order of
 * their ids, beginning after `after` and wrapping around. Where a follower has no work, 10,000 events are left to come together.
 */
export async function findLaggingWorkspaces(
  db: Queryable,
  follower: FollowerName,
  page: { after: string; without: readonly string[]; limit: number },
): Promise<string[]> {
  const isBefore = (id: string) => Number(id <= page.after);
  const has_work = HAS_WORK[follower];
  const behind = 'h.seq > coalesce(w.seq, 0)';
  const found = await findEverywhere<{ workspace_id: string }>(db, {
    name: `find_workspaces_behind_${follower}`,
    text: `select h.workspace_id from ledger_heads h
      left join ${WATERMARKS[follower]} w on w.workspace_id = h.workspace_id
      where ${has_work === undefined ? behind : `${behind} and (${behind} + ${IDLE_EVENTS} or ${has_work})`}
        and h.workspace_id <> all($2::text[])
      order by h.workspace_id <= $1, h.workspace_id limit $3`,
    values: [page.after, page.without, page.limit],
    limit: page.limit,
    order: ({ workspace_id: a }, { workspace_id: b }) => isBefore(a) - isBefore(b) || (a < b ? -1 : 1),
    read: (row) => row,
  });
  return found.map((row) => row.workspace_id);
}

/** The `seq` up to which a follower has processed a chain; 0 where it has not begun. */
export async function getWatermark(
  db: Queryable,
  follower: FollowerName,
  workspace_id: string,
): Promise<number> {
  const result = await db.query<{ seq: number }>({
    name: `get_watermark_${follower}`,
    text: `select seq from ${WATERMARKS[follower]} where workspace_id = $1`,
    values: [workspace_id],
  });
  return result.rows[0]?.seq ?? 0;
}

/**
 * Locks a follower's watermark until the transaction ends, so that only one node processes a chain at a time, and returns
 * it with the head of the chain, which may be an older one. Undefined while another node holds the lock, and for a workspace that
 * was removed: then nothing is written.
 */
export async function lockWatermark(
  client: Client,
  follower: FollowerName,
  workspace_id: string,
): Promise<{ seq: number; head_seq: number } | undefined> {
  const lock = async () => {
    const result = await client.query<{ seq: number; head_seq: number }>({
      name: `lock_watermark_${follower}`,
      text: `select w.seq, h.seq as head_seq from ${WATERMARKS[follower]} w
        join ledger_heads h on h.workspace_id = w.workspace_id
        where w.workspace_id = $1 for update of w skip locked`,
      values: [workspace_id],
    });
    return result.rows[0];
  };
  const found = await lock();
  if (found !== undefined) return found;
  const begun = await client.query({
    name: `begin_watermark_${follower}`,
    text: `insert into ${WATERMARKS[follower]} (workspace_id, seq)
      select h.workspace_id, 0 from ledger_heads h where h.workspace_id = $1 on conflict do nothing`,
    values: [workspace_id],
  });
  return begun.rowCount === 0 ? undefined : lock();
}

/** Advances a watermark. Throws when it is no longer at `from`; then the transaction must be rolled back. */
export async function moveWatermark(
  client: Client,
  follower: FollowerName,
  workspace_id: string,
  from: number,
  to: number,
): Promise<void> {
  const result = await client.query({
    name: `move_watermark_${follower}`,
    text: `update ${WATERMARKS[follower]} set seq = $3 where workspace_id = $1 and seq = $2`,
    values: [workspace_id, from, to],
  });
  if (result.rowCount !== 1) throw new Error('another node processed the events in the meantime');
}

/** Records that a follower skipped an event, and why. */
export async function noteSkippedEvent(
  client: Client,
  workspace_id: string,
  skipped: { follower: FollowerName; seq: number; reason: string },
): Promise<void> {
  await client.query({
    name: 'note_skipped_event',
    text: `insert into skipped_events (workspace_id, follower, seq, reason, skipped_at)
      values ($1, $2, $3, $4, clock_timestamp()) on conflict do nothing`,
    values: [workspace_id, skipped.follower, skipped.seq, skipped.reason],
  });
}

/** Counts the events that each follower skipped, over all workspaces. */
export async function countSkippedEvents(db: Queryable): Promise<SkippedEvents> {
  const found = await findEverywhere<{ follower: FollowerName; count: number }>(db, {
    name: 'count_skipped_events',
    text: 'select s.follower, count(s.workspace_id) as count from skipped_events s group by s.follower',
    values: [],
    limit: Number.POSITIVE_INFINITY,
    order: () => 0,
    read: (row) => row,
  });
  const counts = Object.fromEntries(FOLLOWERS.map((name) => [name, 0])) as SkippedEvents;
  // Nodes that are asked one by one each have a row for a follower.
  for (const { follower, count } of found) counts[follower] += count;
  return counts;
}
