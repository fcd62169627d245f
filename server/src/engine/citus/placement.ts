import type pg from 'pg';
import { findEngine } from './engine.ts';
import { placeOf } from './local-tables.ts';

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

async function placeAll(client: pg.ClientBase, shards: number | null): Promise<number> {
  // Tables are placed one after another, over one connection to each worker.
  await client.query("set local citus.multi_shard_modify_mode = 'sequential'");
  await client.query('set local citus.shard_replication_factor = 1');
  const tables = await listTables(client);
  for (const { name, place } of tables.filter(({ is_placed }) => !is_placed)) {
    if (place === 'plain') continue;
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

/**
 * Places every table that is not placed yet, in one transaction: those of a workspace's rows on the workers, by the workspace
 * and beside each other, the others on the coordinator. Returns how many tables are on the workers then. With `dry_run` the
 * transaction is rolled back.
 */
export async function placeTables(
  client: pg.ClientBase,
  { shards, dry_run }: { shards: number | null; dry_run: boolean },
): Promise<number> {
  await client.query('begin');
  try {
    const tables = await placeAll(client, shards);
    await client.query(dry_run ? 'rollback' : 'commit');
    return tables;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Places the tables that a migration has just added, where the others are distributed. */
export async function placeNewTables(client: pg.ClientBase): Promise<void> {
  if ((await findEngine(client)) === 'citus') await placeTables(client, { shards: null, dry_run: false });
}
