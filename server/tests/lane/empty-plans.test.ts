import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSpendsOfLines } from '../../src/engine/matching/match-rows.ts';
import { makePool, type Queryable } from '../../src/engine/storage/database.ts';
import { getLines, loadLinesByIdentity } from '../../src/engine/storage/history/lines.ts';
import { createMigratedDatabase, ON_CITUS, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createMigratedDatabase();
  pool = makePool(database.connection, { max: 1, plan: 'index_lookup', onBroken: () => {} });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** The indexes of `lines` in the plan that PostgreSQL keeps for the statement of a look-up. */
async function indexesOf(lookUp: (db: Queryable) => Promise<unknown>): Promise<string[]> {
  let statement: pg.QueryConfig | undefined;
  await lookUp({
    query: async (sent: pg.QueryConfig) => {
      statement = sent;
      return { rows: [] };
    },
  } as unknown as Queryable);
  await pool.query(`prepare looked_up as ${statement?.text}`);
  const nulls = statement?.values?.map(() => 'null').join(', ');
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain execute looked_up(${nulls})`);
  await pool.query('deallocate looked_up');
  return rows.flatMap((row) => /Index (?:Only )?Scan using (lines_\w+)/.exec(row['QUERY PLAN'])?.[1] ?? []);
}

// A service plans its look-ups once, while it has no lines, and keeps the plans.
test.skipIf(ON_CITUS).each<[string, (db: Queryable) => Promise<unknown>, string[]]>([
  ['identity', (db) => loadLinesByIdentity(db, []), ['lines_by_identity']],
  ['id', (db) => getLines(db, 'ws_1', [], 0), ['lines_pkey']],
  [
    'id or authorization',
    (db) => loadSpendsOfLines(db, 'ws_1', [], { seq: 1, place: '' }),
    ['lines_by_authorization', 'lines_pkey'],
  ],
])('lines are looked up by %s through its own index', async (_, lookUp, indexes) => {
  expect((await indexesOf(lookUp)).sort()).toEqual(indexes);
});
