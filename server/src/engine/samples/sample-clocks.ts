import pg from 'pg';
import { WATERMARK_TABLES } from '../followers/follower-rows.ts';
import { connectOnce, type DatabaseAddress, type Queryable } from '../storage/database.ts';

/**
 * The clock of a sample workspace while its history is written. Sessions of pools made with `sample` read it in place of the
 * database's (migration 062); no other session does, and no request can name one.
 */

/** Sets the clock of a sample, which begins to be written if there is none yet, ms since 1970. */
export async function setSampleClock(db: Queryable, workspace_id: string, at_ms: number): Promise<void> {
  await db.query({
    name: 'set_sample_clock',
    text: `insert into sample_clocks (workspace_id, at, begun_at) values ($1, $2, pg_catalog.clock_timestamp())
      on conflict (workspace_id) do update set at = excluded.at`,
    values: [workspace_id, new Date(at_ms)],
  });
}

/** Ends the writing of a sample: from then on it has the database's clock, as every other workspace. */
export async function endSampleClock(db: Queryable, workspace_id: string): Promise<void> {
  await db.query({
    name: 'end_sample_clock',
    text: 'delete from sample_clocks where workspace_id = $1',
    values: [workspace_id],
  });
}

/** Returns the samples that somebody began to write and did not end: the writer is gone, if no other can be at work. */
export async function listUnfinishedSamples(db: Queryable): Promise<string[]> {
  const found = await db.query<{ workspace_id: string }>({ text: 'select workspace_id from sample_clocks' });
  return found.rows.map(({ workspace_id }) => workspace_id);
}

/** A finished sample, and its current members. */
export interface SampleRow {
  workspace_id: string;
  name: string;
  user_ids: string[];
}

/** Returns the finished samples, oldest first. */
export async function listSamples(db: Queryable): Promise<SampleRow[]> {
  // Two statements: on Citus the names of workspaces and the clocks lie on different nodes.
  const unfinished = await listUnfinishedSamples(db);
  const found = await db.query<Omit<SampleRow, 'user_ids'>>({
    text: `select workspace_id, name from workspaces where sample and workspace_id <> all($1) order by workspace_id`,
    values: [unfinished],
  });
  const members = await db.query<{ workspace_id: string; user_id: string }>({
    text: 'select workspace_id, user_id from members where workspace_id = any($1) and removed_at is null',
    values: [found.rows.map(({ workspace_id }) => workspace_id)],
  });
  return found.rows.map((row) => ({
    ...row,
    user_ids: members.rows
      .filter((each) => each.workspace_id === row.workspace_id)
      .map((each) => each.user_id),
  }));
}

/** Why a workspace was not removed. */
export class NotASample extends Error {
  override name = 'NotASample';
}

/** Sessions in the workspace continue in another one of their person. */
const MOVE_SESSIONS = `update sessions s set workspace_id = other.workspace_id
  from (select distinct on (m.user_id) m.user_id, m.workspace_id from members m
    where m.removed_at is null and m.workspace_id <> $1 order by m.user_id, m.joined_at) other
  where s.workspace_id = $1 and other.user_id = s.user_id`;

/** The tables with rows of workspaces, the heads first: a batch of a workspace locks its head. */
const TABLES = `select c.table_name from information_schema.columns c
  join information_schema.tables t using (table_schema, table_name)
  where c.table_schema = 'public' and c.column_name = 'workspace_id' and t.table_type = 'BASE TABLE'
  order by c.table_name <> 'ledger_heads', c.table_name`;

/**
 * Removes every row of a sample workspace, and only of one: throws `NotASample` for any other. The service's own role cannot
 * do this, since it cannot remove history; the role that owns the tables does it.
 */
export async function removeSampleRows(address: DatabaseAddress, workspace_id: string): Promise<void> {
  const client = await connectOnce(address);
  const removeAll = async (tables: readonly { table_name: string }[]) => {
    for (const { table_name } of tables)
      await client.query(`delete from ${pg.escapeIdentifier(table_name)} where workspace_id = $1`, [
        workspace_id,
      ]);
  };
  try {
    const { rows: tables } = await client.query<{ table_name: string }>(TABLES);
    await client.query('begin');
    const found = await client.query<{ sample: boolean }>(
      'select sample from workspaces where workspace_id = $1 for update',
      [workspace_id],
    );
    if (found.rows[0]?.sample !== true)
      throw new NotASample('This is no sample workspace, and only those can be removed.');
    await client.query(MOVE_SESSIONS, [workspace_id]);
    await removeAll(tables);
    await client.query('commit');
    // A follower that read the head before it was gone may still add rows. The lock waits for its transaction.
    await client.query('begin');
    await client.query(`lock table ${WATERMARK_TABLES.join(', ')} in share row exclusive mode`);
    await removeAll(tables);
    await client.query('commit');
  } finally {
    await client.end();
  }
}
