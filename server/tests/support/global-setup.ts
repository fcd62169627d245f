import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type PostgresConnection, SUPERUSER, startEmbeddedPostgres } from '@purser/embedded-postgres';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/engine/migration/migrate.ts';
import { DATA_PARENT, removeLeftData } from './memory.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: PostgresConnection;
    /** The name of a migrated database, for test files to have a copy of. */
    template: string;
  }
}

const TEMPLATE = 'migrated_template';

/** Makes the database that test files have copies of: migrating once is much cheaper than once for each. */
async function makeTemplate(connection: PostgresConnection): Promise<void> {
  const client = new pg.Client({ ...connection, ...SUPERUSER });
  await client.connect();
  await client.query(`create database ${TEMPLATE} owner purser`).finally(() => client.end());
  const { guarded } = await migrate({ ...connection, database: TEMPLATE });
  if (!guarded) throw new Error('the test databases have no service role');
}

const quiet = { info: () => undefined, warn: () => undefined, error: console.error };

/** Starts one PostgreSQL with a migrated template for the whole test run; at its end stops it and removes its directory. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  removeLeftData();
  const parent_dir = await mkdtemp(join(DATA_PARENT, 'purser-tests-'));
  const data_dir = join(parent_dir, 'data');
  await mkdir(data_dir, { mode: 0o700 });
  const postgres = await startEmbeddedPostgres({
    data_dir,
    log: quiet,
    // These tests are about what is committed, not about what a power cut leaves.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' },
  });
  await makeTemplate(postgres.connection);
  project.provide('postgres', { ...postgres.connection, ...SUPERUSER });
  project.provide('template', TEMPLATE);
  return async () => {
    await postgres.stop();
    await rm(parent_dir, { recursive: true, force: true });
  };
}
