import { OPERATOR } from '@purser/rules/domain/audit';
import type pg from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAgent } from '../../src/engine/commands/create-agent.ts';
import { type Command, done, refuse } from '../../src/engine/lane/command.ts';
import { makeLane } from '../../src/engine/lane/lane.ts';
import { makePool } from '../../src/engine/storage/database.ts';
import { addWorkspace, type Core } from '../../src/service/installation/runtime.ts';
import { TRUSTING_CLOCK } from '../support/clock.ts';
import { createMigratedDatabase, type TestDatabase } from '../support/postgres.ts';
import { makeTestCore } from '../support/running-service.ts';

let database: TestDatabase;
let core: Core;
let workspace_id: string;
const log = pino({ level: 'silent' });
const origin = { actor: OPERATOR, request_id: null, client_address: null };

beforeAll(async () => {
  database = await createMigratedDatabase();
  core = makeTestCore(database.connection);
  workspace_id = (
    await addWorkspace(core, { name: 'W', plan: 'enterprise', trial_days: null, by: 'operator' })
  ).workspace_id;
});
afterAll(async () => {
  await core.close();
  await database.drop();
});

const throwing: Command<null, null> = {
  name: 'throwing',
  needs: () => ({}),
  apply(set) {
    // Changes something first: the fold has to undo it for the others.
    set.append('agent.created', 'agent', 'agt_never', Buffer.alloc(32));
    throw new Error('a bug');
  },
};
const hesitant: Command<null, null> = {
  name: 'hesitant',
  needs: () => ({}),
  apply(set) {
    set.append('agent.created', 'agent', 'agt_never', Buffer.alloc(32));
    return refuse('not_found', 'changed something and refused all the same');
  },
};
/** Its row is refused by the database alone: NUL is no text of PostgreSQL. */
const unwritable: Command<null, null> = {
  name: 'unwritable',
  needs: () => ({}),
  apply(set) {
    set.keys.noteUse({ key_id: 'a\u0000b', last_used_at: set.now });
    return done(null);
  },
};

/** Its row cannot even be sent, when another statement of the batch is on its way already. */
const unsendable: Command<null, null> = {
  name: 'unsendable',
  needs: () => ({}),
  apply(set) {
    set.keys.noteUse({ key_id: 'key_never', last_used_at: set.now });
    set.changes.decisions.push({ reason_codes: null } as never);
    return done(null);
  },
};

/** Submits while another batch is under way, so that all of these share the next one. */
async function inOneBatch(
  submit: (s: Core['lane']['submit']) => Promise<unknown>[],
): Promise<PromiseSettledResult<unknown>[]> {
  const first = core.lane.submit(
    workspace_id,
    createAgent,
    { slug: `first-${Math.random().toString(36).slice(2)}` },
    origin,
  );
  const rest = submit(core.lane.submit);
  await first;
  return Promise.allSettled(rest);
}

describe('one command never fails its neighbours', () => {
  test.each([
    ['throws', throwing],
    ['refuses after a change', hesitant],
    ['writes what the database refuses', unwritable],
    ['writes what cannot be sent', unsendable],
  ])('a command that %s is answered 500 alone', async (name, bad) => {
    const slug = (i: number) => `${name.replaceAll(' ', '-')}-${i}`;
    const results = await inOneBatch((submit) => [
      submit(workspace_id, createAgent, { slug: slug(1) }, origin),
      submit(workspace_id, bad, null, origin),
      submit(workspace_id, createAgent, { slug: slug(2) }, origin),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((results[1] as PromiseRejectedResult).reason).toMatchObject({ code: 'internal_error' });
    const rows = await core.db.query('select count(*)::int as n from agents where slug = any($1)', [
      [slug(1), slug(2)],
    ]);
    expect(rows.rows[0].n).toBe(2);
    const never = await core.db.query(
      "select count(*)::int as n from ledger_events where subject_id = 'agt_never'",
    );
    expect(never.rows[0].n).toBe(0);
  });

  test('commands of one batch see each other: the second of two equal slugs is refused', async () => {
    const results = await inOneBatch((submit) => [
      submit(workspace_id, createAgent, { slug: 'same' }, origin),
      submit(workspace_id, createAgent, { slug: 'same' }, origin),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected']);
    expect((results[1] as PromiseRejectedResult).reason).toMatchObject({ code: 'agent_exists' });
  });

  test('a workspace that does not exist is not made by a command', async () => {
    const lost = core.lane.submit('ws_00000000000000000000000000', createAgent, { slug: 'x' }, origin);
    await expect(lost).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('limits of the lane', () => {
  const idle: Command<null, null> = { name: 'idle', needs: () => ({}), apply: () => done(null) };
  const makeTestLane = (pool: pg.Pool, now_ms = () => performance.now()) =>
    makeLane({ pool, log, random: Math.random, clock: TRUSTING_CLOCK, now_ms, observeBatch: () => {} });
  const pool = () =>
    makePool(database.connection, { max: 2, pipeline: true, onBroken: () => {}, role: 'purser_service' });

  test.each([
    ['fits into one batch', 150, 0],
    ['is more than a batch takes', 250, 200],
  ])(
    'of what has waited for 3 s and %s, so many are refused (waiting %i, refused %i)',
    async (_what, waiting, refused) => {
      const own = pool();
      let at_ms = 0;
      const lane = makeTestLane(own, () => at_ms);
      const submit = () => lane.submit(workspace_id, idle, null, origin);
      const answers = Promise.allSettled(Array.from({ length: waiting }, submit));
      at_ms = 3_000;
      const reasons = (await answers).flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
      expect(reasons).toHaveLength(refused);
      for (const reason of reasons) expect(reason).toMatchObject({ code: 'unavailable', retry_after_s: 1 });
      await lane.drain();
      await own.end();
    },
  );

  test('what would wait too long is refused at once, and what was accepted is answered', async () => {
    const own = pool();
    const lane = makeTestLane(own);
    const results = await Promise.allSettled(
      Array.from({ length: 3_000 }, () => lane.submit(workspace_id, idle, null, origin)),
    );
    const refused = results.filter((result) => result.status === 'rejected') as PromiseRejectedResult[];
    expect(refused).toHaveLength(1_000);
    expect(refused[0]?.reason).toMatchObject({ code: 'unavailable', retry_after_s: 1 });
    await lane.drain();
    await own.end();
  });

  test('a drain answers all that was accepted and refuses what comes after', async () => {
    const own = pool();
    const lane = makeTestLane(own);
    const accepted = Array.from({ length: 50 }, (_, i) =>
      lane.submit(workspace_id, createAgent, { slug: `drain-${i}` }, origin),
    );
    const drained = lane.drain();
    await expect(lane.submit(workspace_id, idle, null, origin)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await drained;
    expect(await Promise.all(accepted)).toHaveLength(50);
    await own.end();
  });

  test('nobody is told "done" where a write did not reach the database and the commit did', async () => {
    const own = pool();
    const connect = own.connect.bind(own);
    own.connect = (async () => {
      const client = await connect();
      const query = client.query.bind(client);
      client.query = ((config: { text: string }) =>
        config.text.includes('insert into audit_records')
          ? Promise.reject(new Error('a value that the driver cannot send'))
          : query(config as never)) as never;
      return client;
    }) as never;
    const lane = makeTestLane(own);
    await expect(lane.submit(workspace_id, createAgent, { slug: 'half' }, origin)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('may or may not'),
    });
    await own.end();
  });

  test('nobody hears that nothing was done where a node of Citus did not confirm its part of a commit, and it is not done again', async () => {
    const own = pool();
    const connect = own.connect.bind(own);
    let commits = 0;
    own.connect = (async () => {
      const client = await connect();
      const query = client.query.bind(client);
      client.query = ((config: { text: string }) => {
        if (config.text !== 'commit') return query(config as never);
        commits += 1;
        return (query(config as never) as unknown as Promise<unknown>).then(() =>
          query({ text: "do $$ begin raise exception 'could not commit' using errcode = 'XX000'; end $$" }),
        );
      }) as never;
      return client;
    }) as never;
    const lane = makeTestLane(own);
    const refused = { code: 'unavailable', message: expect.stringContaining('may or may not') };
    const asked = ['unsure-1', 'unsure-2'].map((slug) =>
      expect(lane.submit(workspace_id, createAgent, { slug }, origin)).rejects.toMatchObject(refused),
    );
    await Promise.all(asked);
    await lane.drain();
    expect(commits).toBeLessThanOrEqual(asked.length);
    await own.end();
  });

  test('a deadlock is tried again, and given up after a bound', async () => {
    const own = pool();
    let attempts = 0;
    const connect = own.connect.bind(own);
    own.connect = (async () => {
      const client = await connect();
      const query = client.query.bind(client);
      attempts += 1;
      client.query = ((config: { text: string }) =>
        config.text === 'begin'
          ? query({ text: "do $$ begin raise exception 'deadlock' using errcode = '40P01'; end $$" })
          : query(config as never)) as never;
      return client;
    }) as never;
    const lane = makeTestLane(own);
    await expect(lane.submit(workspace_id, idle, null, origin)).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(attempts).toBe(3);
    await own.end();
  });
});
