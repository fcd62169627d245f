import type { PostgresConnection } from '@purser/embedded-postgres';
import pg from 'pg';
import { placeOf } from '../../src/engine/citus/local-tables.ts';
import { ON_CITUS } from './postgres.ts';

type Isolation = 'read committed' | 'repeatable read';

/** An intruder may write everything in the database, and knows no rule of the service or of Citus. */
export interface Intruder {
  /** Runs a statement on the rows themselves: on Citus in the shards of the workspace, on the node that holds them. */
  sql(text: string, values?: unknown[]): Promise<pg.QueryResult>;
  /** Runs statements without values in one transaction, on Citus in one on each node. */
  together(statements: readonly string[], isolation?: Isolation): Promise<void>;
  close(): Promise<void>;
}

/** The names behind these words are tables. */
const TABLES = /(?<=\b(?:from|join|into|update|table)\s+)\w+/g;
/** The beginning of the name of a table that an intruder made; the rest is the table that it is a copy of. */
const COPY = /^(?:kept|older)_/;

/** Connects to a node as its superuser, who may change shards by hand. */
async function connect(to: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(to);
  await client.connect();
  await client.query('set citus.enable_manual_changes_to_shards = on');
  return client;
}

async function runTogether(
  send: (text: string) => Promise<unknown>,
  statements: readonly string[],
  isolation: Isolation = 'read committed',
): Promise<void> {
  await send([`begin isolation level ${isolation}`, ...statements, 'commit'].join(';'));
}

/** Opens the shards of a workspace: its own on its worker, those of people and keys on the coordinator. */
async function openShards(connection: PostgresConnection, workspace_id: string): Promise<Intruder> {
  const coordinator = await connect(connection);
  const { rows } = await coordinator.query<{ name: string; shard: string; host: string; port: number }>(
    `select p.logicalrelid::text as name, s.table_name::text || '_' || s.shardid as shard,
       s.nodename as host, s.nodeport as port
     from pg_dist_partition p join citus_shards s on s.table_name = p.logicalrelid
     where p.logicalrelid::text !~ '[.]' and (p.partmethod = 'n'
       or s.shardid = get_shard_id_for_distribution_column(p.logicalrelid, $1::text))`,
    [workspace_id],
  );
  const shards = new Map(rows.map(({ name, shard }) => [name, shard]));
  const { host, port } = rows.find(({ name }) => name === 'ledger_heads') as (typeof rows)[0];
  const worker = await connect({ ...connection, host, port });
  const nodeOf = (text: string) => {
    const names = [...text.matchAll(TABLES)].map(([name]) => name.replace(COPY, ''));
    return names.some((name) => placeOf(name) !== 'distributed') ? coordinator : worker;
  };
  const onShards = (text: string) => text.replace(TABLES, (name) => shards.get(name) ?? name);
  return {
    sql: (text, values) => nodeOf(text).query(onShards(text), values),
    async together(statements, isolation) {
      for (const node of [coordinator, worker])
        await runTogether(
          (text) => node.query(text),
          statements.filter((text) => nodeOf(text) === node).map(onShards),
          isolation,
        );
    },
    async close() {
      await worker.end();
      await coordinator.end();
    },
  };
}

/** Opens the database behind the service's back. */
export async function breakIn(
  connection: PostgresConnection,
  workspace_id: string,
  sql: Intruder['sql'],
): Promise<Intruder> {
  if (ON_CITUS) return openShards(connection, workspace_id);
  return {
    sql,
    together: (statements, isolation) => runTogether(sql, statements, isolation),
    close: async () => {},
  };
}
