import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, SUPERUSER, startEmbeddedPostgres } from '@purser/embedded-postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/engine/migration/migrate.ts';
import {
  AUTHORITY,
  type Reply,
  type RunningService,
  spend,
  startTestService,
} from '../support/running-service.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(10);

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
let parent_dir: string;
let data_dir: string;
let postgres: EmbeddedPostgres;
let node: RunningService;

const startPostgres = (settings: Record<string, string>) =>
  startEmbeddedPostgres({ data_dir, log: quiet, settings: { fsync: 'off', ...settings } });

/** Starts the server and the node again, the server with these settings. */
async function startAgain(settings: Record<string, string>): Promise<void> {
  await node.stop();
  await postgres.stop();
  postgres = await startPostgres(settings);
  const { workspace_id, admin_key } = node;
  const database = { connection: postgres.connection, drop: async () => {} };
  node = await startTestService({ beside: { ...node, database, workspace_id, admin_key } });
}

const ask = (idempotency_key = 'one'): Promise<Reply> =>
  node.call('POST', '/v1/decisions', { body: spend('a', 5), idempotency_key });

/** From now on commits wait for that standby. */
async function waitFor(standby: string): Promise<void> {
  await node.sql(`alter system set synchronous_standby_names = '${standby}'`);
  await node.sql('select pg_reload_conf()');
  while ((await node.sql('show synchronous_standby_names')).rows[0].synchronous_standby_names !== standby);
  // Another process of PostgreSQL tells the commits, and may read the setting later.
  while (standby !== '' && !(await doesCommitWait()));
}

/** Commits, and ends it where it waits for a standby. */
async function doesCommitWait(): Promise<boolean> {
  const client = new pg.Client({ ...postgres.connection, ...SUPERUSER });
  // It is ended while it waits.
  client.on('error', () => undefined);
  await client.connect();
  const { pid } = (await client.query('select pg_backend_pid() as pid')).rows[0];
  let is_done = false;
  const done = client
    .query("select pg_logical_emit_message(true, 'test', 'x')")
    .catch(() => undefined)
    .finally(() => {
      is_done = true;
    });
  let has_waited = false;
  while (!is_done && !has_waited) {
    const ended = await node.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where pid = ${pid} and wait_event = 'SyncRep'`,
    );
    has_waited = ended.rowCount === 1;
  }
  await done;
  await client.end();
  return has_waited;
}

beforeAll(async () => {
  parent_dir = await mkdtemp(join(tmpdir(), 'purser-standby-'));
  data_dir = join(parent_dir, 'data');
  await mkdir(data_dir, { mode: 0o700 });
  postgres = await startPostgres({});
  const database = { connection: postgres.connection, drop: async () => {} };
  await migrate(database.connection);
  node = await startTestService({ database });
  await node.call('POST', '/v1/agents', { body: { slug: 'a', authority: AUTHORITY } });
});
afterAll(async () => {
  await node.stop();
  await postgres.stop();
  await rm(parent_dir, { recursive: true, force: true });
});

test('a decision that its synchronous standby has not got is never told of, and is found once it may be', async () => {
  // The node knows the agent's authority, so that the next decision takes one transaction.
  expect((await ask('before')).status).toBe(201);
  await waitFor('gone');
  expect((await ask()).status).toBe(503);
  expect((await ask()).status).toBe(503);
  // Whoever ends a waiting backend makes its commit visible on this server, and on this one alone.
  const endWaiting = () =>
    node.sql("select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
  let is_asking = true;
  const asked = ask().finally(() => {
    is_asking = false;
  });
  while (is_asking) await endWaiting();
  expect((await node.sql('select from decisions')).rowCount).toBe(2);
  expect((await asked).status).toBe(503);

  await waitFor('');
  await startAgain({});
  const found = await ask();
  expect([found.status, found.headers.get('idempotent-replay')]).toEqual([200, 'true']);
});
