import type { Client, Queryable } from '../storage/database.ts';
import { FOLLOWERS, type FollowerName, type SkippedEvents } from './follower-names.ts';

/** Where each follower keeps how far it is. */
const WATERMARKS: Record<FollowerName, string> = {
  report: 'report_watermarks',
  learning: 'feedback_watermarks',
};

/**
 * Workspaces whose chain goes on behind a follower's watermark, in the order of their ids from the one behind `after`
 * on and around to it; at most `limit`, and none of `without`.
 */
export async function findWorkspacesBehind(
  db: Queryable,
  follower: FollowerName,
  page: { after: string; without: readonly string[]; limit: number },
): Promise<string[]> {
  const result = await db.query<{ workspace_id: string }>({
    name: `find_workspaces_behind_${follower}`,
    text: `select h.workspace_id from ledger_heads h
      left join ${WATERMARKS[follower]} w on w.workspace_id = h.workspace_id
      where h.seq > coalesce(w.seq, 0) and h.workspace_id <> all($2::text[])
      order by h.workspace_id <= $1, h.workspace_id limit $3`,
    values: [page.after, page.without, page.limit],
  });
  return result.rows.map((row) => row.workspace_id);
}

/** The last event that a follower has added up; 0 when there is none. */
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
 * Locks a follower's watermark until the transaction ends, so that only one node adds up at a time; undefined while
 * another one is at it.
 */
export async function lockWatermark(
  client: Client,
  follower: FollowerName,
  workspace_id: string,
): Promise<number | undefined> {
  await client.query({
    name: `begin_watermark_${follower}`,
    text: `insert into ${WATERMARKS[follower]} (workspace_id, seq) values ($1, 0) on conflict do nothing`,
    values: [workspace_id],
  });
  const result = await client.query<{ seq: number }>({
    name: `lock_watermark_${follower}`,
    text: `select seq from ${WATERMARKS[follower]} where workspace_id = $1 for update skip locked`,
    values: [workspace_id],
  });
  return result.rows[0]?.seq;
}

/** Moves a watermark on. Throws when it is not where it was: then what was added up must not be kept. */
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
  if (result.rowCount !== 1) throw new Error('the events were added up by another node meanwhile');
}

/** Keeps that a follower left an event out, and why. */
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

/** How many events of all workspaces each follower left out. */
export async function countSkippedEvents(db: Queryable): Promise<SkippedEvents> {
  const result = await db.query<{ follower: FollowerName; count: number }>({
    name: 'count_skipped_events',
    text: 'select follower, count(*) as count from skipped_events group by follower',
  });
  const counts = new Map(result.rows.map(({ follower, count }) => [follower, count]));
  return Object.fromEntries(FOLLOWERS.map((name) => [name, counts.get(name) ?? 0])) as SkippedEvents;
}
