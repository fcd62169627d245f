import type pg from 'pg';
import { isDistributed, listWorkers } from '../citus/engine.ts';
import { isHeld } from '../migration/held-tables.ts';
import { MIGRATION_LOCK } from '../migration/migrate.ts';
import { placeTables } from '../migration/placement.ts';
import { connectOnce, type DatabaseAddress, SERVICE_ROLE } from '../storage/database.ts';

/** Why the tables cannot be distributed, and what to do. */
export class DistributeError extends Error {
  override name = 'DistributeError';
}

export interface DistributeOptions {
  /** 1 to 256. */
  shards: number;
  /** Checks everything and leaves all as it is. */
  dry_run: boolean;
}

/** How the tables of an installation lie. */
export interface Distributed {
  engine: 'citus' | 'postgres';
  /** `host:port` of each worker. */
  nodes: string[];
  shards: number;
  tables: number;
  /** They were distributed before. */
  already: boolean;
}

const OLDEST_CITUS = [12, 1] as const;

async function checkExtension(client: pg.Client): Promise<void> {
  const found = await client.query<{ extversion: string }>(
    "select extversion from pg_extension where extname = 'citus'",
  );
  const version = found.rows[0]?.extversion;
  if (version === undefined)
    throw new DistributeError(
      'the database has no Citus extension; run "create extension citus" on every node, then add the workers',
    );
  const [major = 0, minor = 0] = version.split(/[.-]/).map(Number);
  const [oldest_major, oldest_minor] = OLDEST_CITUS;
  if (major < oldest_major || (major === oldest_major && minor < oldest_minor))
    throw new DistributeError(`Citus ${version.split('-')[0]} is too old; use 12.1 or newer`);
}

/** Throws where a worker does not let the service's role in: the coordinator connects as it for each statement. */
async function checkReach(client: pg.Client): Promise<void> {
  await client.query(`set role ${SERVICE_ROLE}`);
  const found = await client
    .query<{ node: string; success: boolean; result: string }>({
      text: `select nodename || ':' || nodeport as node, success, result from run_command_on_workers('select 1')`,
    })
    .finally(() => client.query('reset role'));
  const refused = found.rows.find(({ success }) => !success);
  if (refused !== undefined)
    throw new DistributeError(
      `node ${refused.node} cannot be reached as ${SERVICE_ROLE} (${refused.result.split('\n')[0]}); let this role log in there`,
    );
}

/** Lets the service's role log in while `work` runs, and from then on if it succeeds and `keeps`. */
async function lettingIn<T>(client: pg.Client, keeps: boolean, work: () => Promise<T>): Promise<T> {
  const found = await client.query<{ rolcanlogin: boolean }>({
    text: 'select rolcanlogin from pg_roles where rolname = $1',
    values: [SERVICE_ROLE],
  });
  const could = found.rows[0]?.rolcanlogin === true;
  if (!could) await client.query(`alter role ${SERVICE_ROLE} login`);
  let is_kept = could;
  try {
    const result = await work();
    is_kept ||= keeps;
    return result;
  } finally {
    if (!is_kept) await client.query(`alter role ${SERVICE_ROLE} nologin`);
  }
}

async function describe(client: pg.Client): Promise<Pick<Distributed, 'shards' | 'tables'>> {
  const found = await client.query<{ shards: number; tables: number }>({
    text: `select (select count(*)::int from pg_dist_shard where logicalrelid = 'ledger_heads'::regclass) as shards,
      (select count(*)::int from pg_dist_partition where partmethod = 'h') as tables`,
  });
  return found.rows[0] as { shards: number; tables: number };
}

/**
 * Spreads the tables over the workers of Citus, in one transaction under the lock of migrations: a failure leaves all as it
 * was. Meanwhile writes wait or are refused. Throws DistributeError where the database cannot be distributed.
 */
export async function distribute(address: DatabaseAddress, options: DistributeOptions): Promise<Distributed> {
  if (!('url' in address))
    throw new DistributeError('the embedded database cannot be distributed; use DATABASE_URL');
  const client = await connectOnce(address);
  try {
    await checkExtension(client);
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const nodes = (await listWorkers(client)).map(({ node }) => node);
    if (await isDistributed(client))
      return { engine: 'citus', nodes, ...(await describe(client)), already: true };
    if (nodes.length === 0) throw new DistributeError('there are no workers; add one with citus_add_node');
    const tables = await lettingIn(client, !options.dry_run, async () => {
      await checkReach(client);
      return placeTables(client, options).catch((error: unknown) => {
        if (!isHeld(error)) throw error;
        throw new DistributeError(
          'other transactions hold the tables for too long; end them (select * from pg_stat_activity), and run it again',
          { cause: error },
        );
      });
    });
    const engine = options.dry_run ? 'postgres' : 'citus';
    return { engine, nodes, shards: options.shards, tables, already: false };
  } finally {
    // Ending the session also releases the advisory lock.
    await client.end();
  }
}
