import { afterAll, beforeAll, expect, test } from 'vitest';
import { onShard, tablesOf } from '../../src/engine/citus/find-everywhere.ts';
import { eachWorkspace, forOneWorkspace, splitByWorkspace } from '../../src/engine/citus/one-workspace.ts';
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

const INSERT = `insert into notes as n (workspace_id, tags, body, count) select r.workspace_id, string_to_array(r.tags, ' '), r.body, 1
  from unnest($1::text[], $2::text[], string_to_array($3::text, E'\\x1e')) as r(workspace_id, tags, body)
  on conflict (workspace_id) do update set count = n.count + excluded.count`;

test.each<[string, unknown[], unknown[], string]>([
  [
    'one row as its values',
    [['ws_a'], '{"a b"}', 'text'],
    ['ws_a', '{"a b"}', 'text'],
    `insert into notes as n (workspace_id, tags, body, count) values ($1, string_to_array(($2::text[])[1], ' '), (string_to_array($3::text, E'\\x1e'))[1], 1) on conflict (workspace_id) do update set count = n.count + excluded.count`,
  ],
  [
    'several rows through the head of their workspace',
    ['{ws_a,ws_a}', '{a,b}', 'text'],
    ['{ws_a,ws_a}', '{a,b}', 'text', 'ws_a'],
    INSERT.replace('select r.workspace_id', 'select h.workspace_id')
      .replace('from unnest', 'from ledger_heads h cross join unnest')
      .replace(' on conflict', ' where h.workspace_id = $4 on conflict'),
  ],
])('Citus gets an insert of %s', (_, values, sent_values, sent) => {
  const [only, ...others] = eachWorkspace({ name: 'n', text: INSERT, values });
  expect([only.text, only.values, others]).toEqual([sent, sent_values, []]);
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

test('while a node is lost, the others are asked for each of their shards, with the values in the text', () => {
  const text = `select h.workspace_id from ledger_heads h left join search_watermarks w on w.workspace_id = h.workspace_id
    where h.workspace_id <> all($2::text[]) and h.workspace_id > $1 limit $3`;
  const shards = new Map([
    ['ledger_heads', 'ledger_heads_7'],
    ['search_watermarks', 'search_watermarks_9'],
  ]);
  expect(tablesOf(text)).toEqual([...shards.keys()]);
  expect(onShard({ text, values: ["it's $2", ['a', 'b'], 5] }, shards)).toBe(
    `select h.workspace_id from ledger_heads_7 h left join search_watermarks_9 w on w.workspace_id = h.workspace_id
    where h.workspace_id <> all(array['a', 'b']::text[]) and h.workspace_id > 'it''s $2' limit 5`,
  );
});

test('of a statement over several workspaces, one whose worker does not answer is left out where the statement says so', async () => {
  const lost = Object.assign(new Error('connection to the remote node failed'), { code: '08006' });
  class Connection {
    async query({ values = [] }: { text: string; values?: unknown[]; leaves_out_lost?: boolean }) {
      const id = values[0] as string;
      if (id === 'ws_b') throw lost;
      if (id === 'ws_c') throw new Error('a bug');
      return { rows: [{ id }], rowCount: 1 };
    }
  }
  const client = new Connection();
  splitByWorkspace(client, (error) => error === lost);
  const ask = (ids: string[], leaves_out_lost: boolean) =>
    client.query({
      text: 'select 1 from agents where workspace_id = any($1)',
      values: [ids],
      leaves_out_lost,
    });
  expect((await ask(['ws_a', 'ws_b', 'ws_d'], true)).rows).toEqual([{ id: 'ws_a' }, { id: 'ws_d' }]);
  expect(await ask(['ws_b'], true)).toMatchObject({ rows: [], rowCount: 0 });
  await expect(ask(['ws_a', 'ws_b'], false)).rejects.toBe(lost);
  await expect(ask(['ws_a', 'ws_c'], true)).rejects.toThrow('a bug');
});
