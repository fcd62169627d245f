import { OPERATOR } from '@purser/rules/domain/audit';
import type { ApiKey } from '@purser/rules/domain/keys';
import { HISTORY_NAMES as names } from '@purser/rules/purpose/history';
import type pg from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAgent } from '../../src/engine/commands/create-agent.ts';
import { expireReservations } from '../../src/engine/commands/expire-reservations.ts';
import { type Command, done, refuse } from '../../src/engine/lane/command.ts';
import { type Lane, makeLane } from '../../src/engine/lane/lane.ts';
import { makePool } from '../../src/engine/storage/database.ts';
import { verifyLedger } from '../../src/engine/verification/verify-ledger.ts';
import { addWorkspace, type Core } from '../../src/service/installation/runtime.ts';
import { TRUSTING_CLOCK } from '../support/clock.ts';
import { createMigratedDatabase, type TestDatabase } from '../support/postgres.ts';
import { makeTestCore, NO_CHECKPOINT_FILES } from '../support/running-service.ts';

const log = pino({ level: 'silent' });
const origin = { actor: OPERATOR, request_id: null, client_address: null };
let database: TestDatabase;
let core: Core;
let workspace_id: string;
let pool: pg.Pool;
let lane: Lane;
/** Commands in each batch that was committed. */
let batches: number[];
/** Sent in front of, or in place of, a statement of the lane. */
let intercept: (
  query: (config: pg.QueryConfig) => Promise<unknown>,
  config: pg.QueryConfig,
) => Promise<unknown>;
let connections: number;

beforeAll(async () => {
  database = await createMigratedDatabase();
  core = makeTestCore(database.connection);
  workspace_id = (
    await addWorkspace(core, { name: 'W', plan: 'enterprise', trial_days: null, by: 'operator' })
  ).workspace_id;
  pool = makePool(database.connection, {
    max: 4,
    pipeline: true,
    onBroken: () => {},
    role: 'purser_service',
  });
  const connect = pool.connect.bind(pool);
  pool.connect = (async () => {
    const client = await connect();
    connections += 1;
    return new Proxy(client, {
      get(target, name) {
        if (name === 'query') {
          return (config: pg.QueryConfig) =>
            intercept((given) => target.query(given) as Promise<unknown>, config);
        }
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }) as never;
  lane = makeLane({
    pool,
    log,
    random: Math.random,
    clock: TRUSTING_CLOCK,
    now_ms: () => performance.now(),
    observeBatch: (commands) => batches.push(commands),
  });
});
beforeEach(() => {
  batches = [];
  connections = 0;
  intercept = (query, config) => query(config);
});
afterAll(async () => {
  await lane.drain();
  await pool.end();
  await core.close();
  await database.drop();
});

const fails = (code: string): pg.QueryConfig => ({
  text: `do $$ begin raise exception 'made to fail' using errcode = '${code}'; end $$`,
});
const agentNamed = (slug: string) => lane.submit(workspace_id, createAgent, { slug }, origin);
const agentsLike = async (slugs: readonly string[]) =>
  (
    await core.db.query<{ slug: string; created_at: string }>({
      text: 'select slug, created_at from agents where slug = any($1) order by slug',
      values: [slugs],
    })
  ).rows;

describe('a batch that the database undid', () => {
  test.each([
    ['a deadlock', '40P01', 'begin'],
    ['a serialization failure', '40001', 'begin'],
    ['a serialization failure found by the commit', '40001', 'commit'],
  ])('by %s is done again, once, and nobody notices', async (_name, code, where) => {
    const slug = `again-${code.toLowerCase()}-${where}`;
    let failures = 1;
    intercept = (query, config) => {
      if (config.text === where && failures > 0) {
        failures -= 1;
        return query(fails(code));
      }
      return query(config);
    };
    await expect(agentNamed(slug)).resolves.toMatchObject({ slug });
    expect(connections).toBe(2);
    expect(batches).toEqual([1]);
    expect(await agentsLike([slug])).toHaveLength(1);
    const options = {
      since: 0,
      keys: core.secrets.verifyingKeys,
      checkpoint_dir: NO_CHECKPOINT_FILES,
      names,
    };
    expect((await verifyLedger(core.ledger_db, workspace_id, options)).valid).toBe(true);
  });

  test('again and again is given up after three attempts, and nothing of it is there', async () => {
    intercept = (query, config) => query(config.text === 'commit' ? fails('40001') : config);
    await expect(agentNamed('hopeless')).rejects.toMatchObject({ code: 'unavailable', retry_after_s: 1 });
    expect(connections).toBe(3);
    expect(await agentsLike(['hopeless'])).toEqual([]);
  });

  test('by a server that is stopping or full is 503, and the next one passes', async () => {
    for (const code of ['57P01', '53300', '25006']) {
      intercept = (query, config) => query(config.text === 'begin' ? fails(code) : config);
      await expect(agentNamed(`down-${code.toLowerCase()}`)).rejects.toMatchObject({ code: 'unavailable' });
    }
    intercept = (query, config) => query(config);
    await expect(agentNamed('up')).resolves.toBeDefined();
  });
});

describe('commands of one batch', () => {
  const bad = (name: string, apply: Command<null, null>['apply']): Command<null, null> => ({
    name,
    needs: () => ({}),
    apply,
  });

  test.each([
    [
      'throws',
      bad('throws', (set) => {
        set.keys.noteUse({ key_id: 'key_never', last_used_at: set.now });
        throw new Error('a bug');
      }),
    ],
    [
      'refuses after a change',
      bad('hesitates', (set) => {
        set.keys.noteUse({ key_id: 'key_never', last_used_at: set.now });
        return refuse('not_found', 'changed something and refused all the same');
      }),
    ],
  ])('share one transaction with one that %s, which leaves nothing in it', async (name, command) => {
    const slugs = [1, 2, 3].map((i) => `${name.replaceAll(' ', '-')}-${i}`);
    const first = agentNamed(`before-${slugs[0]}`);
    const rest = Promise.allSettled([
      agentNamed(slugs[0] as string),
      lane.submit(workspace_id, command, null, origin),
      agentNamed(slugs[1] as string),
      lane.submit(workspace_id, command, null, origin),
      agentNamed(slugs[2] as string),
    ]);
    await first;
    expect((await rest).map((each) => each.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(batches).toEqual([1, 5]);
    const made = await agentsLike(slugs);
    expect(made.map((each) => each.slug)).toEqual(slugs);
    // One batch has one moment.
    expect(new Set(made.map((each) => each.created_at)).size).toBe(1);
    const uses = await core.db.query({ text: "select 1 from api_key_uses where key_id = 'key_never'" });
    expect(uses.rowCount).toBe(0);
  });

  test('a constraint of the database that one row breaks fails its command alone', async () => {
    const clash: Command<null, null> = {
      name: 'clash',
      needs: () => ({}),
      apply(set) {
        const key: ApiKey = {
          key_id: set.newId('api_key'),
          name: 'clash',
          kind: 'read_only',
          scopes: ['read'],
          agent_id: null,
          principal_id: null,
          // The digest of every such key is the same, and the table of digests takes it once.
          digest: Buffer.alloc(32, 1),
          hint: 'sk_…clash',
          created_at: set.now,
          expires_at: null,
          revoked_at: null,
          made_by_key_id: null,
          made_by_principal_id: null,
          made_by_person: null,
          allowance_path: [],
          maker_key_ids: [],
        };
        set.keys.add(key, 'secret');
        return done(null);
      },
    };
    await core.lane.submit(workspace_id, clash, null, origin);
    const first = agentNamed('clash-0');
    const rest = Promise.allSettled([
      agentNamed('clash-1'),
      lane.submit(workspace_id, clash, null, origin),
      agentNamed('clash-2'),
    ]);
    await first;
    expect(await rest).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'internal_error' } },
      { status: 'fulfilled' },
    ]);
    expect(await agentsLike(['clash-1', 'clash-2'])).toHaveLength(2);
  });
});

describe('a hold that runs out while its batch is being loaded', () => {
  test.each([
    ['now', 0],
    ['further on, because it was set back since', 3_600_000],
  ])(
    "is let go from its own month's counter, when the workspace's clock stands %s",
    async (_name, ahead_ms) => {
      const slug = `late-${ahead_ms}`;
      await agentNamed(slug);
      const { agent_id } = (
        await core.db.query<{ agent_id: string }>({
          text: 'select agent_id from agents where slug = $1',
          values: [slug],
        })
      ).rows[0] as { agent_id: string };
      await core.db.query({
        text: 'update ledger_heads set time_ms = time_ms + $2 where workspace_id = $1',
        values: [workspace_id, ahead_ms],
      });
      await core.db.query({
        text: "insert into budgets values ($1, $2, '2026-01', 'EUR', 700, 0)",
        values: [workspace_id, agent_id],
      });
      // A hold of a month long gone, which runs out between the two statements of the next batch that look at it.
      const expires_at = new Date(Date.now() + 450).toISOString();
      await core.db.query({
        text: `insert into decision_states (workspace_id, decision_id, agent_id, reservation_id, reservation_status,
            period, currency, amount_minor, expires_at, review_state, outcome_state, verified)
          values ($1, $4, $2, $5, 'HELD', '2026-01', 'EUR', 200, $3, 'PENDING', 'NONE', false)`,
        values: [workspace_id, agent_id, expires_at, `dec_${slug}`, `rsv_${slug}`],
      });
      await core.db.query({
        text: "insert into expiring_holds values ($1, $2, $3, $4, '2026-01')",
        values: [workspace_id, agent_id, expires_at, `dec_${slug}`],
      });
      intercept = (query, config) => {
        if (config.name !== 'load_budgets' && config.name !== 'load_due_holds') return query(config);
        void query({ text: 'select pg_sleep(0.3)' });
        return query(config);
      };
      const letGo = () => lane.submit(workspace_id, expireReservations, { agent_ids: [agent_id] }, origin);
      await letGo();
      intercept = (query, config) => query(config);
      while (Date.now() <= Date.parse(expires_at)) await new Promise((wait) => setTimeout(wait, 20));
      await letGo();
      const { rows: budgets } = await core.db.query<{ held_minor: number }>({
        text: 'select held_minor from budgets where workspace_id = $1 and agent_id = $2',
        values: [workspace_id, agent_id],
      });
      expect(budgets).toEqual([{ held_minor: 500 }]);
    },
  );
});
