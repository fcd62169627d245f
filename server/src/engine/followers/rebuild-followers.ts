import pg from 'pg';
import { connectOnce, type DatabaseAddress } from '../storage/database.ts';
import type { FollowerName } from './follower-names.ts';

/** The tables of each follower, its watermark first: without their rows it adds up everything again. */
const TABLES: Record<FollowerName, readonly [string, ...string[]]> = {
  report: ['report_watermarks', 'report_counters', 'report_counted'],
  learning: ['feedback_watermarks', 'feedback', 'decision_lessons'],
  search: ['search_watermarks', 'search_texts', 'search_groups'],
  coverage: ['coverage_watermarks', 'line_matches', 'asked_spends'],
};

/** A follower of a workspace that begins again, and how many events it had skipped. */
export interface RebuiltFollower {
  workspace_id: string;
  follower: FollowerName;
  skipped: number;
}

/** Returns what has skipped events, by workspace. */
export async function listSkipped(address: DatabaseAddress): Promise<RebuiltFollower[]> {
  const client = await connectOnce(address);
  try {
    const found = await client.query<RebuiltFollower>(
      `select workspace_id, follower, count(*)::int as skipped from skipped_events
        group by workspace_id, follower order by workspace_id, follower`,
    );
    return found.rows;
  } finally {
    await client.end();
  }
}

/**
 * Lets a follower begin again at the first event of a workspace, as the owner of the database, since the service's role may
 * not delete what it skipped. Services may run meanwhile: they add everything up again within seconds to minutes.
 */
export async function rebuildFollower(
  address: DatabaseAddress,
  workspace_id: string,
  follower: FollowerName,
): Promise<RebuiltFollower> {
  const client = await connectOnce(address);
  const [watermark, ...derived] = TABLES[follower];
  const deleteFrom = (table: string) =>
    client.query(`delete from ${pg.escapeIdentifier(table)} where workspace_id = $1`, [workspace_id]);
  try {
    await client.query('begin');
    // Waits for a follower at work, and keeps the next one out until all is gone.
    await client.query(`select 1 from ${watermark} where workspace_id = $1 for update`, [workspace_id]);
    for (const table of derived) await deleteFrom(table);
    const skipped = await client.query(
      'delete from skipped_events where workspace_id = $1 and follower = $2',
      [workspace_id, follower],
    );
    await deleteFrom(watermark);
    await client.query('commit');
    return { workspace_id, follower, skipped: skipped.rowCount ?? 0 };
  } finally {
    // Ends a transaction that failed, too.
    await client.end();
  }
}
