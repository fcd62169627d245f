import { OPERATOR } from '@purser/rules/domain/audit';
import { HISTORY_NAMES as names } from '@purser/rules/purpose/history';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAgent } from '../../src/engine/commands/create-agent.ts';
import { type Command, done } from '../../src/engine/lane/command.ts';
import { makeLane } from '../../src/engine/lane/lane.ts';
import { connectOnce, makePool } from '../../src/engine/storage/database.ts';
import { verifyLedger } from '../../src/engine/verification/verify-ledger.ts';
import { addWorkspace, type Core } from '../../src/service/installation/runtime.ts';
import { TRUSTING_CLOCK } from '../support/clock.ts';
import { createMigratedDatabase, type TestDatabase } from '../support/postgres.ts';
import { makeTestCore, NO_CHECKPOINT_FILES } from '../support/running-service.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

const log = pino({ level: 'silent' });
const origin = { actor: OPERATOR, request_id: null, client_address: null };
let database: TestDatabase;
let core: Core;
let workspaces: string[];

beforeAll(async () => {
  database = await createMigratedDatabase();
  core = makeTestCore(database.connection);
  workspaces = [];
  for (let i = 0; i < 12; i++) {
    const made = await addWorkspace(core, {
      name: `W${i}`,
      plan: 'enterprise',
      trial_days: null,
      by: 'operator',
    });
    workspaces.push(made.workspace_id);
  }
});
afterAll(async () => {
  await core.close();
  await database.drop();
});

/** A lane of its own that tells how many commands each of its batches carried. */
function makeTestLane() {
  const pool = makePool(database.connection, {
    max: 8,
    pipeline: true,
    plan: 'index_lookup',
    onBroken: () => {},
    role: 'purser_service',
  });
  const batches: number[] = [];
  const lane = makeLane({
    pool,
    log,
    random: Math.random,
    clock: TRUSTING_CLOCK,
    now_ms: () => performance.now(),
    observeBatch: (commands) => batches.push(commands),
  });
  return { lane, batches, close: () => lane.drain().then(() => pool.end()) };
}

const agentsOf = async (workspace_id: string, like: string) =>
  (
    await core.db.query({
      text: 'select slug from agents where workspace_id = $1 and slug like $2 order by slug',
      values: [workspace_id, `${like}%`],
    })
  ).rows.map((row) => row.slug as string);

describe('workspaces share batches', () => {
  test('each keeps its own rows, its own chain and its own refusals', async () => {
    const { lane, batches, close } = makeTestLane();
    const results = await Promise.allSettled(
      workspaces.flatMap((workspace_id, i) => [
        lane.submit(workspace_id, createAgent, { slug: `shared-${i}` }, origin),
        lane.submit(workspace_id, createAgent, { slug: `shared-${i}` }, origin),
      ]),
    );
    expect(results.map((result) => result.status)).toEqual(
      workspaces.flatMap(() => ['fulfilled', 'rejected']),
    );
    // One that found the lane idle, two beside it, and those that all others share.
    expect(batches.length).toBeLessThanOrEqual(workspaces.length / 2);
    for (const [i, workspace_id] of workspaces.entries()) {
      expect(await agentsOf(workspace_id, 'shared-')).toEqual([`shared-${i}`]);
      expect(
        await verifyLedger(core.ledger_db, workspace_id, {
          since: 0,
          keys: core.secrets.verifyingKeys,
          checkpoint_dir: NO_CHECKPOINT_FILES,
          names,
        }),
      ).toMatchObject({ valid: true });
    }
    await close();
  });

  test('a workspace whose rows are stuck fails alone from the second time on', async () => {
    const { lane, close } = makeTestLane();
    const [stuck, ...free] = workspaces as [string, ...string[]];
    await lane.submit(stuck, createAgent, { slug: 'in-the-way' }, origin);
    const other = await connectOnce(database.connection);
    await other.query('begin');
    // The name of an agent that is not committed yet: whoever wants it waits to see whether it will be.
    await other.query(
      `create temp table copied on commit drop as select * from agents where workspace_id = $1 and slug = 'in-the-way'`,
      [stuck],
    );
    await other.query(`update copied set slug = 'stuck', agent_id = agent_id || 'x'`);
    await other.query('insert into agents select * from copied');
    const create = (workspace_id: string, slug: string) =>
      lane.submit(workspace_id, createAgent, { slug }, origin).then(
        () => 'made',
        (error: { code?: string }) => error.code,
      );
    /** All at once: one finds the lane idle, two go beside it, and the rest share the next batch. */
    const round = async (n: number) => {
      const before = free.slice(0, 3).map((workspace_id) => create(workspace_id, `before-${n}`));
      const blocked = create(stuck, 'stuck');
      const beside = free.slice(3).map((workspace_id) => create(workspace_id, `near-${n}`));
      let is_answered = false;
      const answered = blocked.finally(() => {
        is_answered = true;
      });
      const others = await Promise.all([...before, ...beside]);
      return { others: new Set(others), waited_for_it: is_answered, blocked: answered };
    };
    const first = await round(1);
    expect(await first.blocked).toBe('unavailable');
    // What shared a batch with it cannot be told from it.
    expect(first.others).toEqual(new Set(['made', 'unavailable']));
    // Each round takes as long as the deadline of a batch.
    for (let n = 2; n < 2 + Number(process.env.STUCK_ROUNDS); n++) {
      const again = await round(n);
      expect([...again.others]).toEqual(['made']);
      expect(again.waited_for_it).toBe(false);
      expect(await again.blocked).toBe('unavailable');
    }
    await other.query('rollback');
    await other.end();
    expect(await create(stuck, 'stuck')).toBe('made');
    await close();
  });

  test('a workspace that another transaction has locked waits alone, and holds up nobody', async () => {
    const { lane, close } = makeTestLane();
    const [locked, ...free] = workspaces as [string, ...string[]];
    const other = await connectOnce(database.connection);
    await other.query('begin');
    await other.query('select 1 from ledger_heads where workspace_id = $1 for update', [locked]);
    const order: string[] = [];
    const create = (workspace_id: string, slug: string) =>
      lane.submit(workspace_id, createAgent, { slug }, origin).then(() => order.push(workspace_id));
    const waiting = Array.from({ length: 5 }, (_, i) => create(locked, `late-${i}`));
    for (let round = 0; round < 5; round++) {
      await Promise.all(free.map((workspace_id) => create(workspace_id, `free-${round}`)));
    }
    expect(order).toHaveLength(5 * free.length);
    expect(order).not.toContain(locked);
    await other.query('commit');
    await Promise.all(waiting);
    expect(await agentsOf(locked, 'late-')).toHaveLength(5);
    await other.end();
    await close();
  });

  test('a row that the database refuses fails its own command alone, in whichever workspace', async () => {
    const { lane, close } = makeTestLane();
    /** NUL is no text of PostgreSQL. */
    const unwritable: Command<null, null> = {
      name: 'unwritable',
      needs: () => ({}),
      apply(set) {
        set.keys.noteUse({ key_id: 'a\u0000b', last_used_at: set.now });
        return done(null);
      },
    };
    const results = await Promise.allSettled(
      workspaces.flatMap((workspace_id, i) => [
        lane.submit(workspace_id, createAgent, { slug: `beside-${i}` }, origin),
        ...(i === 7 ? [lane.submit(workspace_id, unwritable, null, origin)] : []),
      ]),
    );
    const failed = results.filter((result) => result.status === 'rejected');
    expect(failed).toHaveLength(1);
    expect((failed[0] as PromiseRejectedResult).reason).toMatchObject({ code: 'internal_error' });
    for (const [i, workspace_id] of workspaces.entries()) {
      expect(await agentsOf(workspace_id, 'beside-')).toEqual([`beside-${i}`]);
    }
    await close();
  });

  test('queues of webhooks are locked in the order of their keys, as the workers lock theirs', async () => {
    const { lane, close } = makeTestLane();
    const deliver: Command<string, null> = {
      name: 'deliver',
      needs: () => ({}),
      apply(set, endpoint_id) {
        set.outbox.deliver(endpoint_id, 'evt_any');
        return done(null);
      },
    };
    const idle: Command<null, null> = { name: 'idle', needs: () => ({}), apply: () => done(null) };
    const [low, high, ...others] = workspaces as [string, string, ...string[]];
    for (const workspace_id of [low, high]) await lane.submit(workspace_id, deliver, 'wh_ordered', origin);
    const worker = await connectOnce(database.connection);
    const lock = (workspace_id: string) =>
      worker.query({
        text: 'select 1 from webhook_queues where workspace_id = $1 for update nowait',
        values: [workspace_id],
      });
    await worker.query('begin');
    await lock(low);
    // Enough beside them, so that the last two share a batch.
    const busy = others.slice(0, 6).map((workspace_id) => lane.submit(workspace_id, idle, null, origin));
    const written = [high, low].map((workspace_id) =>
      lane.submit(workspace_id, deliver, 'wh_ordered', origin),
    );
    const observer = await connectOnce(database.connection);
    const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    while ((await observer.query(waits)).rowCount === 0) await new Promise((next) => setTimeout(next, 5));
    await observer.end();
    await lock(high);
    await worker.query('commit');
    await Promise.all([...busy, ...written]);
    await worker.end();
    await close();
  });

  test('one with a long queue does not keep the others waiting for its end', async () => {
    const { lane, close } = makeTestLane();
    const [busy, other] = workspaces as [string, string];
    const idle: Command<null, null> = { name: 'idle', needs: () => ({}), apply: () => done(null) };
    // Connections that are open already: to open one takes longer than all of these commands.
    await Promise.all([busy, other].map((workspace_id) => lane.submit(workspace_id, idle, null, origin)));
    let done_before = 0;
    const long = Array.from({ length: 1_900 }, () =>
      lane.submit(busy, idle, null, origin).then(() => {
        done_before += 1;
      }),
    );
    await lane.submit(other, idle, null, origin);
    expect(done_before).toBeLessThan(1_900);
    await Promise.all(long);
    await close();
  });
});
