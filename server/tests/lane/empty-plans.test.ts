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

const insertSomeLines = (from: number, to: number) =>
  pool.query(
    `insert into lines (workspace_id, line_id, seq, import_id, feed, identity, kind, merchant, instrument, amount_minor, currency,
      occurred_at, precision, recorded_at)
    select 'ws_1', 'lin_' || i, 1 + i / 100, 'imp_1', 'bank', encode(sha256(i::text::bytea), 'hex'), 'SPEND', 'Hetzner', 'card:1', i,
      'EUR', now(), 'SECOND', now() from generate_series($1::integer, $2::integer) as i`,
    [from, to],
  );

const LOOK_UPS: [string, (db: Queryable) => Promise<unknown>, string[]][] = [
  ['identity', (db) => loadLinesByIdentity(db, []), ['lines_by_identity']],
  ['id', (db) => getLines(db, 'ws_1', [], 0), ['lines_pkey']],
  [
    'id or authorization',
    (db) => loadSpendsOfLines(db, 'ws_1', [], { seq: 1, place: '' }),
    ['lines_by_authorization', 'lines_pkey'],
  ],
];

// Each connection of a service plans its look-ups once, while there are no lines or some of its first import, and keeps the plans.
test.skipIf(ON_CITUS).each([0, 100, 200, 400, 1_000, 5_000])(
  'lines are looked up through the index of what is known of them, also by plans made with %i lines',
  async (count) => {
    const { rows } = await pool.query<{ count: number }>('select count(*) from lines');
    const before = rows[0]?.count ?? 0;
    if (count > before) await insertSomeLines(before + 1, count);
    for (const [what, lookUp, indexes] of LOOK_UPS)
      expect([what, (await indexesOf(lookUp)).sort()]).toEqual([what, indexes]);
  },
);
