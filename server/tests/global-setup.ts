import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import {
  type PostgresConnection,
  SUPERUSER,
  startEmbeddedPostgres,
} from '../src/storage/embedded-postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: PostgresConnection;
  }
}

const quiet = { info: () => undefined, warn: () => undefined, error: console.error };

/** Starts one PostgreSQL for the whole test run, and at its end stops it and removes its directory. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const parent_dir = await mkdtemp(join(tmpdir(), 'purser-tests-'));
  const data_dir = join(parent_dir, 'data');
  await mkdir(data_dir, { mode: 0o700 });
  const postgres = await startEmbeddedPostgres({
    data_dir,
    log: quiet,
    // These tests are about what is committed, not about what a power cut leaves.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' },
  });
  project.provide('postgres', { ...postgres.connection, ...SUPERUSER });
  return async () => {
    await postgres.stop();
    await rm(parent_dir, { recursive: true, force: true });
  };
}
