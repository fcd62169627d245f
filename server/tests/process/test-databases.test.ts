import pg from 'pg';
import { expect, test } from 'vitest';
import { connectionUrl, createTestDatabase } from '../support/postgres.ts';

test('each test file gets a database of its own, reachable by fields and by URL, as its owner', async () => {
  const [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const by_fields = new pg.Client(one.connection);
  await by_fields.connect();
  await by_fields.query('create table kept (n int)');
  await by_fields.end();

  const copy = await createTestDatabase({ template: one.connection.database });
  const by_url = new pg.Client(connectionUrl(copy.connection));
  await by_url.connect();
  const { rows } = await by_url.query('select count(*)::int as tables from pg_tables where tablename = $1', [
    'kept',
  ]);
  expect(rows).toEqual([{ tables: 1 }]);
  await by_url.end();

  const elsewhere = new pg.Client(other.connection);
  await elsewhere.connect();
  await expect(elsewhere.query('select from kept')).rejects.toThrow(/does not exist/);
  await elsewhere.end();
  await Promise.all([one.drop(), other.drop(), copy.drop()]);
});
