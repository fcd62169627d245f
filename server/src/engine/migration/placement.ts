import pg from 'pg';
import { findEngine } from '../citus/engine.ts';
import { placeOf } from '../citus/local-tables.ts';
import { sqlState } from '../storage/database.ts';
import { type LockTries, TablesHeld, whileHeld } from './held-tables.ts';

/** A table and its place. `is_placed` is false where the tables are not distributed, or a release has just added it. */
interface Placement {
  name: string;
  place: ReturnType<typeof placeOf>;
  is_placed: boolean;
}

async function listTables(client: pg.ClientBase): Promise<Placement[]> {
  const found = await client.query<{ name: string; is_placed: boolean }>({
    text: `select c.relname::text as name, p.logicalrelid is not null as is_placed
      from pg_class c left join pg_dist_partition p on p.logicalrelid = c.oid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname <> 'ledger_heads', c.relname`,
  });
  return found.rows.map((row) => ({ ...row, place: placeOf(row.name) }));
}

const QUERY_CANCELED = '57014';
/** How many tries wait for half of the server's `deadlock_timeout`; later ones wait for twice that time. */
const SHORT_TRIES = 10;

/**
 * Locks the tables against everybody, before Citus takes its own locks one after the other: a statement of the service that had
 * read one table would wait for the next one then, while Citus waits for the first. All of them together are waited for half of
 * the time after which PostgreSQL looks for such a circle, so that none of the service's transactions is cancelled for it. After
 * some tries it is longer, since only then PostgreSQL ends an autovacuum that is in the way.
 */
export async function lockTables(
  client: pg.ClientBase,
  names: readonly string[],
  tried: number,
): Promise<void> {
  await client.query({
    text: `select set_config('statement_timeout',
      ceil(extract(epoch from current_setting('deadlock_timeout')::interval) * 1000 * $1::float8)::text, true)`,
    values: [tried <= SHORT_TRIES ? 0.5 : 2],
  });
  try {
    await client.query(`lock table ${names.map(pg.escapeIdentifier).join(', ')} in access exclusive mode`);
  } catch (error) {
    if (sqlState(error) === QUERY_CANCELED)
      throw new TablesHeld('other transactions hold the tables', { cause: error });
    throw error;
  }
  await client.query('set local statement_timeout to default');
}

async function placeAll(client: pg.ClientBase, shards: number | null, tried: number): Promise<number> {
  // Tables are placed one after another, over one connection to each worker.
  await client.query("set local citus.multi_shard_modify_mode = 'sequential'");
  await client.query('set local citus.shard_replication_factor = 1');
  const tables = await listTables(client);
  const missing = tables.filter(({ is_placed, place }) => !is_placed && place !== 'plain');
  if (missing.length > 0)
    await lockTables(
      client,
      missing.map(({ name }) => name),
      tried,
    );
  for (const { name, place } of missing) {
    if (place === 'known')
      await client.query({ text: 'select citus_add_local_table_to_metadata($1::regclass)', values: [name] });
    else if (name === 'ledger_heads')
      await client.query({
        text: "select create_distributed_table($1::regclass, 'workspace_id', shard_count => $2)",
        values: [name, shards],
      });
    else
      await client.query({
        text: "select create_distributed_table($1::regclass, 'workspace_id', colocate_with => 'ledger_heads')",
        values: [name],
      });
  }
  return tables.filter(({ place }) => place === 'distributed').length;
}

const LOCK_TRIES: LockTries = { tries: 60, pause_ms: 1_000 };

/**
 * Places every table that is not placed yet, in one transaction: those of a workspace's rows on the workers, by the workspace
 * and beside each other, the others on the coordinator. Returns how many tables are on the workers then. With `dry_run` the
 * transaction is rolled back. While others hold the tables the transaction is tried again; throws TablesHeld, or the
 * database's error, where they do so for longer than a minute.
 */
export function placeTables(
  client: pg.ClientBase,
  {
    shards,
    dry_run,
    patience = LOCK_TRIES,
  }: { shards: number | null; dry_run: boolean; patience?: LockTries },
): Promise<number> {
  return whileHeld(patience, async (tried) => {
    await client.query('begin');
    try {
      const tables = await placeAll(client, shards, tried);
      await client.query(dry_run ? 'rollback' : 'commit');
      return tables;
    } catch (error) {
      await client.query('rollback').catch(() => {});
      throw error;
    }
  });
}

/** Places the tables that a migration has just added, where the others are distributed. */
export async function placeNewTables(client: pg.ClientBase): Promise<void> {
  if ((await findEngine(client)) === 'citus') await placeTables(client, { shards: null, dry_run: false });
}
