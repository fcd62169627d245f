import { afterAll, beforeAll, expect, test } from 'vitest';
import { forOneWorkspace } from '../../src/engine/citus/one-workspace.ts';
import { distribute } from '../../src/engine/distribution/distribute.ts';
import { connectionUrl, createMigratedDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(async () => {
  await database.drop();
});

test('a database without the extension is not distributed, and the error says what to do', async () => {
  const address = { url: connectionUrl(database.connection) };
  await expect(distribute(address, { shards: 32, dry_run: false })).rejects.toThrow(
    'the database has no Citus extension; run "create extension citus" on every node, then add the workers',
  );
});

test('the embedded database is not distributed', async () => {
  await expect(distribute(database.connection, { shards: 32, dry_run: false })).rejects.toThrow(
    'the embedded database cannot be distributed; use DATABASE_URL',
  );
});

test.each([
  [
    'rows by key',
    `select k.* from unnest($1::text[], $2::text[]) as w(workspace_id, key_id)
      join api_keys k on k.workspace_id = w.workspace_id and k.key_id = w.key_id`,
    `select k.* from unnest($1::text[], $2::text[]) as w(workspace_id, key_id)
      join api_keys k on k.workspace_id = $3 and k.key_id = w.key_id`,
  ],
  [
    'rows of workspaces',
    'select * from shared_budgets where workspace_id = any($1) order by budget_id',
    'select * from shared_budgets where workspace_id = $1 order by budget_id',
  ],
  [
    'an insert',
    'insert into notes (workspace_id, text) select r.workspace_id, r.text from unnest($1::text[], $2::text[]) as r(workspace_id, text)',
    'insert into notes (workspace_id, text) select h.workspace_id, r.text from ledger_heads h cross join unnest($1::text[], $2::text[]) as r(workspace_id, text) where h.workspace_id = $3',
  ],
  [
    'an upsert',
    `insert into agents (workspace_id, slug) select r.workspace_id, r.slug from unnest($1::text[], $2::text[]) as r(workspace_id, slug) on conflict (workspace_id, slug) do nothing`,
    `insert into agents (workspace_id, slug) select h.workspace_id, r.slug from ledger_heads h cross join unnest($1::text[], $2::text[]) as r(workspace_id, slug) where h.workspace_id = $3 on conflict (workspace_id, slug) do nothing`,
  ],
  [
    'a join inside one workspace',
    'select * from notes n join agents a on a.workspace_id = n.workspace_id where n.workspace_id = $1',
    'select * from notes n join agents a on a.workspace_id = $1 where n.workspace_id = $1',
  ],
])('Citus gets %s as one task: each table is compared with the id of the workspace', (_, text, sent) => {
  expect(forOneWorkspace(text)?.text).toBe(sent);
});

test.each([
  ['a statement on tables of the coordinator', 'select * from users where user_id = $1'],
  [
    'an update of the workspace that something is in',
    'update sessions set workspace_id = o.workspace_id from o',
  ],
])('%s stays as it is', (_, text) => {
  expect(forOneWorkspace(text)).toBeNull();
});
