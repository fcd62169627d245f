import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isHeld, TablesHeld, whileHeld } from '../../src/engine/migration/held-tables.ts';
import { lockTables } from '../../src/engine/migration/placement.ts';
import { createTestDatabase, superuserConnection, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
const clients: pg.Client[] = [];
/** Connects as a user who may shorten the time after which PostgreSQL looks for a deadlock. */
async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ ...superuserConnection(), database: database.connection.database });
  await client.connect();
  clients.push(client);
  return client;
}

beforeAll(async () => {
  database = await createTestDatabase();
  await (await connect()).query('create table one (n integer); create table two (n integer)');
});
afterAll(async () => {
  for (const client of clients) await client.end();
  await database.drop();
});

test('tables are locked together or not at all: a transaction that waits for one while it holds another goes on', async () => {
  const [operator, service] = [await connect(), await connect()];
  await operator.query("set deadlock_timeout = '40ms'");
  await service.query('begin; select from two');
  await operator.query('begin');
  const locking = expect(lockTables(operator, ['one', 'two'], 1)).rejects.toThrow(TablesHeld);
  const reading = service.query('select from one');
  await locking;
  await operator.query('rollback');
  await reading;
  await service.query('commit');
  await operator.query('begin');
  await lockTables(operator, ['one', 'two'], 2);
  const held = await operator.query(
    "select from pg_locks where pid = pg_backend_pid() and mode = 'AccessExclusiveLock'",
  );
  const timeout = await operator.query('show statement_timeout');
  await operator.query('rollback');
  expect([held.rowCount, timeout.rows]).toEqual([2, [{ statement_timeout: '0' }]]);
});

test('a transaction is tried again while others hold its tables, and only then', async () => {
  const failures: unknown[] = [
    new TablesHeld('a'),
    Object.assign(new pg.DatabaseError('', 0, 'error'), { code: '40P01' }),
  ];
  const patience = { tries: 3, pause_ms: 0 };
  const tried: number[] = [];
  const work = async (n: number) => {
    tried.push(n);
    const failure = failures[n - 1];
    if (failure !== undefined) throw failure;
    return 'done';
  };
  await expect(whileHeld(patience, work)).resolves.toBe('done');
  expect(tried).toEqual([1, 2, 3]);
  await expect(whileHeld({ ...patience, tries: 2 }, work)).rejects.toBe(failures[1]);
  failures.unshift(new Error('a bug'));
  await expect(whileHeld(patience, work)).rejects.toThrow('a bug');
  expect(failures.map(isHeld)).toEqual([false, true, true]);
});
