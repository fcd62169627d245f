import { randomBytes } from 'node:crypto';
import { type PostgresConnection, SUPERUSER } from '@purser/embedded-postgres';
import pg from 'pg';
import { inject } from 'vitest';
import { distribute } from '../../src/engine/distribution/distribute.ts';
import { migrate } from '../../src/engine/migration/migrate.ts';
import type {} from './global-setup.ts';

/** A database for one test file. */
export interface TestDatabase {
  /** As the role that owns it. */
  connection: PostgresConnection;
  /** Ends all connections to it and removes it. */
  drop(): Promise<void>;
}

/** The PostgreSQL of this test run, as its superuser. */
export function superuserConnection(): PostgresConnection {
  return inject('postgres');
}

/** The same connection as a URL, for what takes a `DATABASE_URL`. */
export function connectionUrl({ host, port, user, database }: PostgresConnection): string {
  return `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`;
}

/** Runs one statement as the superuser, on the database that always exists. */
export async function asSuperuser(statement: string): Promise<void> {
  const client = new pg.Client({ ...superuserConnection(), ...SUPERUSER });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/**
 * Makes a database of its own for a test file, owned by the role `purser`: empty, or a copy of `template`, to
 * which nobody may be connected at that moment.
 */
export async function createTestDatabase(options: { template?: string } = {}): Promise<TestDatabase> {
  const database = `test_${randomBytes(8).toString('hex')}`;
  const template = pg.escapeIdentifier(options.template ?? 'template1');
  // Copying files takes half the time of writing each page to the log, which nobody reads here.
  await asSuperuser(`create database ${database} owner purser template ${template} strategy file_copy`);
  return {
    connection: { ...superuserConnection(), user: 'purser', database },
    drop: () => asSuperuser(`drop database if exists ${database} with (force)`),
  };
}

/** Makes a migrated database of its own for a test file. */
export function createMigratedDatabase(): Promise<TestDatabase> {
  return CITUS === undefined
    ? createTestDatabase({ template: inject('template') })
    : createOnCitus(CITUS.split(','));
}

/** `host:port` of a coordinator and of its workers, for runs of the same tests on Citus; each lets `postgres` in without a password. */
const CITUS = process.env.PURSER_TEST_CITUS;
/** The databases of this run are spread over workers. */
export const ON_CITUS = CITUS !== undefined;

/** Makes a migrated database that is spread over the workers. */
async function createOnCitus(nodes: string[]): Promise<TestDatabase> {
  const database = `test_${randomBytes(8).toString('hex')}`;
  const all = nodes.map((node) => {
    const [host = '', port] = node.split(':');
    return { host, port: Number(port), user: 'postgres' };
  });
  const on = async (node: pg.ClientConfig, statements: readonly string[]) => {
    const client = new pg.Client(node);
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  };
  for (const node of all) {
    await on({ ...node, database: 'postgres' }, [
      `create database ${database}`,
      // The stopped clock is a table that every shard reads.
      `alter database ${database} set citus.allow_nested_distributed_execution = on`,
    ]);
    await on({ ...node, database }, ['create extension citus']);
  }
  const [coordinator, ...workers] = all as [(typeof all)[0], ...typeof all];
  const turn = new pg.Client({ ...coordinator, database: 'postgres' });
  await turn.connect();
  // A node that is added gets all roles, which only one may do at a time.
  await turn.query('select pg_advisory_lock(1)');
  await on({ ...coordinator, database }, [
    `select citus_set_coordinator_host('${coordinator.host}', ${coordinator.port})`,
    ...workers.map(({ host, port }) => `select citus_add_node('${host}', ${port})`),
  ]);
  await turn.end();
  const url = `postgresql://postgres@${coordinator.host}:${coordinator.port}/${database}`;
  await migrate({ url });
  await distribute({ url }, { shards: 4, dry_run: false });
  return {
    connection: { ...coordinator, database },
    async drop() {
      for (const node of all)
        await on({ ...node, database: 'postgres' }, [`drop database if exists ${database} with (force)`]);
    },
  };
}

/**
 * Makes a database look like one that Citus spread, to services that are started afterwards: they send each statement in its text
 * for Citus, which PostgreSQL takes as well. Without effect where the databases of this run are on Citus.
 */
export async function lookLikeCitus({ connection }: TestDatabase): Promise<void> {
  if (ON_CITUS) return;
  const client = new pg.Client({ ...connection, user: SUPERUSER.user });
  await client.connect();
  await client
    .query(
      `set allow_system_table_mods = on;
      create table pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char");
      insert into pg_catalog.pg_dist_partition values ('public.ledger_heads', 'h');
      create table pg_catalog.pg_dist_node (nodeid integer, groupid integer, nodename text, nodeport integer,
        noderole text, shouldhaveshards boolean);
      grant select on pg_catalog.pg_dist_partition, pg_catalog.pg_dist_node to public`,
    )
    .finally(() => client.end());
}
