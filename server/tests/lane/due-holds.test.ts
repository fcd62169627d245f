import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listDueHolds, loadDueHolds } from '../../src/engine/storage/decision-states.ts';
import type { Core } from '../../src/service/installation/runtime.ts';
import { makeReservationSweep } from '../../src/service/workers/expire-reservations.ts';
import { createMigratedDatabase, ON_CITUS, type TestDatabase } from '../support/postgres.ts';
import { makeTestCore } from '../support/running-service.ts';

let database: TestDatabase;
let core: Core;
beforeAll(async () => {
  database = await createMigratedDatabase();
  core = makeTestCore(database.connection);
});
afterAll(async () => {
  await core.close();
  await database.drop();
});

/** Holds of one agent that run out one after another, from `begin` from now on. */
const hold = (workspace_id: string, count: number, begin: string) =>
  core.db.query(
    `insert into expiring_holds (workspace_id, agent_id, expires_at, decision_id, period)
      select $1, 'agt_1', clock_timestamp() + $3::interval + n * interval '1 ms', $1 || '_dec_' || n, '2026-11'
      from generate_series(1, $2) as n`,
    [workspace_id, count, begin],
  );

/** How many rows of the table the database read for `work`, whatever plan it chose. */
async function rowsRead(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<unknown>): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await work(client);
    const { rows } = await client.query<{ read: number }>(
      `select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables
        where relname = 'expiring_holds'`,
    );
    await client.query('rollback');
    return rows[0]?.read as number;
  } finally {
    client.release();
  }
}

// On Citus the rows are read on a worker, which counts them.
test.skipIf(ON_CITUS)(
  'of many live holds the sweep and a decision’s batch read those that are due, and no others',
  async () => {
    await hold('ws_live', 5_000, '1 day');
    const list = (client: pg.PoolClient) => listDueHolds(client, null, 500);
    const load = (client: pg.PoolClient) =>
      loadDueHolds(client, [{ workspace_id: 'ws_live', agent_id: 'agt_1' }]);
    expect(await rowsRead(core.db, list)).toBe(0);
    expect(await rowsRead(core.keys_db, load)).toBe(0);
    await hold('ws_due', 3, '-1 hour');
    expect(await rowsRead(core.db, list)).toBe(3);
  },
);

test('a workspace whose holds cannot be let go keeps no other’s from being let go', async () => {
  await hold('ws_stuck', 50, '-2 hours');
  await hold('ws_free', 1, '-1 minute');
  const asked: string[] = [];
  const submit = async (workspace_id: string) => {
    asked.push(workspace_id);
    throw new Error('cannot be let go');
  };
  const sweep = makeReservationSweep({ db: core.db, lane: { submit }, log: core.log, max_holds: 20 });
  for (let i = 0; i < 4; i++) await sweep();
  expect(asked).toContain('ws_free');
  // Behind the last one it begins anew.
  expect(asked.filter((id) => id === 'ws_stuck').length).toBeGreaterThan(3);
});
