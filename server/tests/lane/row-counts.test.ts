import { OPERATOR } from '@purser/rules/domain/audit';
import pg from 'pg';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createAgent } from '../../src/engine/commands/create-agent.ts';
import { type Lane, makeLane } from '../../src/engine/lane/lane.ts';
import { makePool } from '../../src/engine/storage/database.ts';
import { addWorkspace, type Core } from '../../src/service/installation/runtime.ts';
import { TRUSTING_CLOCK } from '../support/clock.ts';
import { createMigratedDatabase, type TestDatabase } from '../support/postgres.ts';
import { makeTestCore } from '../support/running-service.ts';

/** A write that stores another number of rows than it was sent is no error for PostgreSQL, but one for the lane. */
const origin = { actor: OPERATOR, request_id: null, client_address: null };
const ENGINES = ['postgres', 'citus'] as const;
let database: TestDatabase;
let core: Core;
let pool: pg.Pool;
let owner: pg.Client;
let workspace_id: string;
let logged: string[] = [];
let lanes: Record<(typeof ENGINES)[number], Lane>;

beforeAll(async () => {
  database = await createMigratedDatabase();
  core = makeTestCore(database.connection);
  ({ workspace_id } = await addWorkspace(core, {
    name: 'W',
    plan: 'enterprise',
    trial_days: null,
    by: 'operator',
  }));
  pool = makePool(database.connection, {
    max: 4,
    pipeline: true,
    onBroken: () => {},
    role: 'purser_service',
  });
  owner = new pg.Client(database.connection);
  await owner.connect();
  await owner.query(
    'create function swallow() returns trigger language plpgsql as $$ begin return null; end $$',
  );
  const laneOn = (kind: (typeof ENGINES)[number]) =>
    makeLane({
      pool,
      log: pino({ level: 'error' }, { write: (line) => void logged.push(line) }),
      random: Math.random,
      clock: TRUSTING_CLOCK,
      now_ms: () => performance.now(),
      engine: { kind },
      observeBatch: () => {},
    });
  lanes = { postgres: laneOn('postgres'), citus: laneOn('citus') };
});
afterEach(() => {
  logged = [];
});
afterAll(async () => {
  for (const kind of ENGINES) await lanes[kind].drain();
  await pool.end();
  await owner.end();
  await core.close();
  await database.drop();
});

const stored = async () => {
  const found = await owner.query(
    `select h.seq, h.hash, (select count(*) from agents) as agents, (select count(*) from audit_records) as audit,
      (select count(*) from ledger_events) as events from ledger_heads h where h.workspace_id = $1`,
    [workspace_id],
  );
  return found.rows[0];
};

test.each(
  ENGINES.flatMap((kind) =>
    [
      ['agents', 'insert', 'write_agents'],
      ['audit_records', 'insert', 'write_audit_records'],
      ['ledger_events', 'insert', 'write_ledger_events'],
      ['ledger_heads', 'update', 'write_heads'],
    ].map(([table = '', event = '', statement = '']) => ({ kind, table, event, statement })),
  ),
)(
  'on $kind nothing is committed where $statement stores no row, and the log says so',
  async ({ kind, table, event, statement }) => {
    const before = await stored();
    await owner.query(
      `create trigger swallowed before ${event} on ${table} for each row execute function swallow()`,
    );
    const slug = `lost-${kind}-${table.replace('_', '-')}`;
    try {
      await expect(lanes[kind].submit(workspace_id, createAgent, { slug }, origin)).rejects.toMatchObject({
        code: 'internal_error',
      });
    } finally {
      await owner.query(`drop trigger swallowed on ${table}`);
    }
    expect(await stored()).toEqual(before);
    expect(logged.join()).toContain(`${statement} wrote 0 of 1 rows`);
    await expect(lanes[kind].submit(workspace_id, createAgent, { slug }, origin)).resolves.toMatchObject({
      slug,
    });
  },
);
