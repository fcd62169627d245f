import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { SUPERUSER } from '@purser/embedded-postgres';
import { OPERATOR } from '@purser/rules/domain/audit';
import { DISABLED_AFTER_MS, RETENTION_MS, secretText } from '@purser/rules/domain/webhooks';
import { HISTORY_NAMES as names } from '@purser/rules/purpose/history';
import { makeIdsAt } from '@purser/rules/values/ids';
import pg from 'pg';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createWebhook } from '../../src/engine/commands/create-webhook.ts';
import { deleteWebhook } from '../../src/engine/commands/delete-webhook.ts';
import { testWebhook } from '../../src/engine/commands/test-webhook.ts';
import { makePool, type Queryable, SERVICE_ROLE } from '../../src/engine/storage/database.ts';
import { verifyLedger } from '../../src/engine/verification/verify-ledger.ts';
import { addWorkspace, type Core } from '../../src/service/installation/runtime.ts';
import { pruneWebhooks } from '../../src/service/webhook-delivery/attempt-rows.ts';
import { connectEndpoint } from '../../src/service/webhook-delivery/client.ts';
import type { Clock } from '../../src/service/webhook-delivery/clock.ts';
import { startWebhookDelivery } from '../../src/service/webhook-delivery/deliver.ts';
import type {
  WebhookDeliverer,
  WebhookDeliveryOptions,
} from '../../src/service/webhook-delivery/delivery-options.ts';
import { leaseQueues } from '../../src/service/webhook-delivery/queue-rows.ts';
import { connectionUrl, createMigratedDatabase, type TestDatabase } from '../support/postgres.ts';
import { makeTestCore, NO_CHECKPOINT_FILES, SECRET_KEY } from '../support/running-service.ts';
import { takesMinutes, until } from '../support/until.ts';
import { type Receiver, startReceiver, verifies } from '../support/webhook-receiver.ts';

takesMinutes(5);

const log = pino({ level: 'silent' });
const origin = { actor: OPERATOR, request_id: null, client_address: null };
const LEASE_MS = 15_000;
const random = () => randomInt(2 ** 47) / 2 ** 47;

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const processes = new Set<ChildProcess>();

let database: TestDatabase;
let core: Core;
let superuser: pg.Client;
let db: pg.Pool;
beforeAll(async () => {
  database = await createMigratedDatabase();
  core = makeTestCore(database.connection);
  db = makePool(database.connection, {
    max: 8,
    plan: 'index_lookup',
    role: SERVICE_ROLE,
    onBroken: () => {},
  });
  superuser = new pg.Client({ ...database.connection, user: SUPERUSER.user });
  await superuser.connect();
});
afterAll(async () => {
  await core.close();
  await db.end();
  await superuser.end();
  await database.drop();
});

/** A clock that stands until it is moved. Ahead of the database's, so that what the lane stamps is due. */
class FakeClock implements Clock {
  ms = Date.now() + 60_000;
  now_ms = () => this.ms;
  sync = async () => {};
}

let clock: FakeClock;
let workers: WebhookDeliverer[] = [];
let receivers: Receiver[] = [];
beforeEach(() => {
  clock = new FakeClock();
});
afterEach(async () => {
  for (const child of processes) child.kill('SIGKILL');
  processes.clear();
  await Promise.all(receivers.map((each) => each.close()));
  await Promise.all(workers.map((each) => each.stop()));
  workers = [];
  receivers = [];
  for (const table of ['endpoints', 'queues', 'deliveries', 'events', 'attempts']) {
    await superuser.query(`truncate webhook_${table}`);
  }
});

function work(options: Partial<WebhookDeliveryOptions> = {}): WebhookDeliverer {
  const timeout_ms = options.timeout_ms ?? 10_000;
  const worker = startWebhookDelivery({
    senders: {},
    public_url: 'https://purser.example',
    countNotice: () => {},
    db,
    lane: core.lane,
    log,
    clock,
    random,
    worker: randomBytes(8).toString('hex'),
    openSecret: core.secrets.openWebhookSecret,
    connect: (url) =>
      connectEndpoint(url, {
        resolve: async () => ['127.0.0.1'],
        allow_private: true,
        timeout_ms,
        connections: 16,
      }),
    schedule: { first_ms: 30_000, max_ms: 300_000 },
    timeout_ms,
    countAttempt: () => {},
    poll_ms: 10,
    lease_ms: LEASE_MS,
    ...options,
  });
  workers.push(worker);
  return worker;
}

async function receive(): Promise<Receiver> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  return receiver;
}

const newWorkspace = async () =>
  (await addWorkspace(core, { name: 'W', plan: 'team', trial_days: null, by: 'operator' })).workspace_id;

async function subscribe(workspace_id: string, url: string) {
  const secret = secretText(randomBytes(32));
  const sealed_secret = core.secrets.sealWebhookSecret(workspace_id, secret, randomBytes(12));
  const { endpoint_id } = await core.lane.submit(
    workspace_id,
    createWebhook,
    { url, events: null, sealed_secret },
    origin,
  );
  return { workspace_id, endpoint_id, secret };
}
type Subscribed = Awaited<ReturnType<typeof subscribe>>;

/** Puts an event into the outbox through the lane. */
const tell = async ({ workspace_id, endpoint_id }: Subscribed) =>
  (await core.lane.submit(workspace_id, testWebhook, { endpoint_id }, origin)).event_id;

/** Puts many events there at once, behind the lane's back. */
async function tellMany({ workspace_id, endpoint_id }: Subscribed, count: number) {
  const newId = makeIdsAt(Date.now(), random);
  const ids = Array.from({ length: count }, () => newId('event'));
  const now = new Date().toISOString();
  await superuser.query(
    `insert into webhook_events select $1, id, 'decision.created', '{"id":"' || id || '"}', $3 from unnest($2::text[]) id`,
    [workspace_id, ids, now],
  );
  await superuser.query(
    'insert into webhook_deliveries select $1, $2, $4, id, 0 from unnest($3::text[]) id',
    [workspace_id, endpoint_id, ids, now],
  );
  await superuser.query('update webhook_queues set due_at = $2, puts = puts + 1 where endpoint_id = $1', [
    endpoint_id,
    now,
  ]);
  return ids;
}

const rows = async (text: string, values: unknown[] = []) => (await superuser.query(text, values)).rows;
const attemptsOf = ({ endpoint_id }: Subscribed) =>
  rows('select * from webhook_attempts where endpoint_id = $1 order by attempt_id', [endpoint_id]);
const waiting = async () => (await rows('select count(*)::int as n from webhook_deliveries'))[0].n;

test('attempts go out at 0, 30, 60, 120 and 240 s after the result before, freshly signed, and then no more', async () => {
  const receiver = await receive();
  receiver.answer = (_request, response) => response.writeHead(500).end();
  const to = await subscribe(await newWorkspace(), receiver.url);
  await tell(to);
  work();
  for (const [i, wait_s] of [0, 30, 60, 120, 240].entries()) {
    if (wait_s > 0) {
      clock.ms += wait_s * 1000 - 1;
      await new Promise((wait) => setTimeout(wait, 150));
      expect(receiver.received).toHaveLength(i);
      clock.ms += 1;
    }
    const sent_ms = clock.ms;
    await until(async () => (await attemptsOf(to)).length === i + 1);
    const received = receiver.received[i] as Receiver['received'][0];
    expect(verifies(received, to.secret)).toBe(true);
    expect(received.headers['x-svc-signature']).toContain(`t=${Math.floor(sent_ms / 1000)},`);
  }
  clock.ms += 3_600_000;
  await new Promise((wait) => setTimeout(wait, 150));
  expect(new Set(receiver.received.map((each) => `${each.headers['x-svc-id']} ${each.body}`)).size).toBe(1);
  expect(receiver.received).toHaveLength(5);
  expect((await attemptsOf(to)).map(({ attempt, status }) => [attempt, status])).toEqual([
    [1, 'RETRYING'],
    [2, 'RETRYING'],
    [3, 'RETRYING'],
    [4, 'RETRYING'],
    [5, 'FAILED'],
  ]);
  expect(await waiting()).toBe(0);
});

test('no event is lost over 100 kills between sending and recording, and none of its five attempts', async () => {
  const receiver = await receive();
  const workspace_id = await newWorkspace();
  const to = [await subscribe(workspace_id, receiver.url), await subscribe(workspace_id, receiver.url)];
  const told: string[] = [];
  for (let kill = 0; kill < 100; kill++) {
    told.push(await tell(to[kill % 2] as Subscribed));
    let dead = false;
    const mortal: Queryable = {
      query(config) {
        // The process is gone from the moment at which it would have written down what it sent.
        if (config.name === 'record_attempts') dead = true;
        if (dead) return Promise.reject(new Error('killed'));
        return db.query(config);
      },
    };
    const worker = work({ db: mortal });
    await until(() => dead);
    await worker.stop();
    clock.ms += LEASE_MS;
  }
  expect(await rows('select 1 from webhook_attempts')).toEqual([]);
  expect(await waiting()).toBe(100);
  work();
  await until(async () => (await waiting()) === 0);
  const attempts = await rows('select event_id, attempt, status from webhook_attempts');
  expect(attempts.map(({ event_id }) => event_id).sort()).toEqual([...told].sort());
  expect(attempts.every(({ attempt, status }) => attempt === 1 && status === 'SUCCEEDED')).toBe(true);
  const bodies = new Map<string, Set<string>>();
  for (const { event, body } of receiver.received) {
    bodies.set(event.id, (bodies.get(event.id) ?? new Set()).add(body));
  }
  expect([...bodies.keys()].sort()).toEqual([...told].sort());
  expect([...bodies.values()].every((each) => each.size === 1)).toBe(true);
  expect(receiver.received.length).toBeGreaterThan(100);
});

test('an endpoint that hangs with 10,000 events waiting holds up none of 50 healthy ones', async () => {
  const [hanging, healthy] = [await receive(), await receive()];
  let open = 0;
  let most_open = 0;
  hanging.answer = () => {
    open += 1;
    most_open = Math.max(most_open, open);
  };
  const workspaces = [await newWorkspace(), await newWorkspace(), await newWorkspace()];
  const hung = await subscribe(workspaces[0] as string, hanging.url);
  const others: Subscribed[] = [];
  for (let i = 0; i < 50; i++) others.push(await subscribe(workspaces[i % 3] as string, healthy.url));
  await tellMany(hung, 10_000);
  // However long the healthy ones take, none of the attempts that hang is given up meanwhile.
  work({ timeout_ms: 3_600_000, lease_ms: 7_200_000 });
  await until(() => open > 0);
  await Promise.all(others.map((each) => tellMany(each, 20)));
  await until(() => healthy.received.length >= 1_000);
  // Not one of the attempts that hang has ended: nobody waited for any of them.
  expect(await attemptsOf(hung)).toEqual([]);
  expect(most_open).toBeLessThanOrEqual(16);
  await until(async () => (await waiting()) === 10_000);
});

test('workers share the endpoints, and no delivery is sent twice', async () => {
  const receiver = await receive();
  const workspace_id = await newWorkspace();
  const to: Subscribed[] = [];
  for (let i = 0; i < 12; i++) to.push(await subscribe(workspace_id, receiver.url));
  for (const each of to) await tellMany(each, 40);
  const sent = [0, 0, 0];
  for (const i of sent.keys()) {
    work({
      countAttempt: () => {
        sent[i] = (sent[i] as number) + 1;
      },
    });
  }
  await until(async () => (await waiting()) === 0);
  expect(receiver.received).toHaveLength(480);
  expect(new Set(receiver.received.map((each) => each.event.id)).size).toBe(480);
  expect(sent.reduce((sum, n) => sum + n)).toBe(480);
});

test('a result that comes after the lease ran out counts nothing: the other worker’s does', async () => {
  const receiver = await receive();
  const held: (() => void)[] = [];
  receiver.answer = (_request, response) => held.push(() => response.writeHead(200).end());
  const to = await subscribe(await newWorkspace(), receiver.url);
  await tell(to);
  const slow_clock = new FakeClock();
  slow_clock.ms = clock.ms;
  work({ clock: slow_clock });
  await until(() => held.length === 1);
  // The first worker's time stands still, as that of a machine that was suspended; the others' goes on.
  clock.ms += LEASE_MS + 1;
  receiver.answer = (_request, response) => response.writeHead(204).end();
  work();
  await until(async () => (await attemptsOf(to)).length === 1);
  held[0]?.();
  await new Promise((wait) => setTimeout(wait, 150));
  expect((await attemptsOf(to)).map((each) => each.http_status)).toEqual([204]);
});

test('an endpoint to which nothing but failures went for five days is disabled, audited and shown as such', async () => {
  const receiver = await receive();
  receiver.answer = (_request, response) => response.writeHead(500).end();
  const to = await subscribe(await newWorkspace(), receiver.url);
  const status = async () =>
    (
      await rows('select status, disabled_reason from webhook_endpoints where endpoint_id = $1', [
        to.endpoint_id,
      ])
    )[0];
  work();
  await tell(to);
  await until(async () => (await attemptsOf(to)).length === 1);
  clock.ms += DISABLED_AFTER_MS - 31_000;
  await until(async () => (await attemptsOf(to)).length === 2);
  expect(await status()).toEqual({ status: 'active', disabled_reason: null });
  clock.ms += 60_000;
  await until(async () => (await status()).status === 'disabled');
  expect(await status()).toEqual({ status: 'disabled', disabled_reason: 'ONLY_FAILURES' });
  const [record] = await rows(
    "select actor, action, changes from audit_records where target_id = $1 and action = 'webhook.updated'",
    [to.endpoint_id],
  );
  expect(record).toMatchObject({
    actor: { type: 'system' },
    changes: { status: { from: 'active', to: 'disabled' } },
  });
  const attempts = (await attemptsOf(to)).length;
  clock.ms += 3_600_000;
  await new Promise((wait) => setTimeout(wait, 150));
  expect((await attemptsOf(to)).length).toBe(attempts);
  expect(
    (
      await verifyLedger(core.ledger_db, to.workspace_id, {
        since: 0,
        keys: core.secrets.verifyingKeys,
        checkpoint_dir: NO_CHECKPOINT_FILES,
        names,
      })
    ).valid,
  ).toBe(true);
});

test('one success in five days keeps an endpoint', async () => {
  const receiver = await receive();
  const to = await subscribe(await newWorkspace(), receiver.url);
  let answered = 0;
  receiver.answer = (_request, response) => response.writeHead(++answered === 2 ? 200 : 500).end();
  work();
  await tell(to);
  await until(async () => (await attemptsOf(to)).length === 1);
  clock.ms += 30_000;
  await until(async () => (await attemptsOf(to)).length === 2);
  clock.ms += DISABLED_AFTER_MS;
  await tell(to);
  await until(async () => (await attemptsOf(to)).length === 3);
  await new Promise((wait) => setTimeout(wait, 100));
  expect(await rows('select status from webhook_endpoints')).toEqual([{ status: 'active' }]);
});

test('a stop begins nothing more, waits for what is under way, records it and gives the leases back', async () => {
  const receiver = await receive();
  receiver.answer = (_request, response) => setTimeout(() => response.writeHead(200).end(), 200);
  const to = await subscribe(await newWorkspace(), receiver.url);
  await tellMany(to, 50);
  const worker = work();
  await until(() => receiver.received.length > 0);
  await worker.stop();
  const sent = receiver.received.length;
  expect(sent).toBeLessThan(50);
  expect((await attemptsOf(to)).map((each) => each.status)).toEqual(Array(sent).fill('SUCCEEDED'));
  expect(await waiting()).toBe(50 - sent);
  expect(await rows('select leased_by, due_at is not null as is_due from webhook_queues')).toEqual([
    { leased_by: null, is_due: true },
  ]);
  receiver.answer = (_request, response) => response.writeHead(200).end();
  work();
  await until(async () => (await waiting()) === 0);
  expect(receiver.received).toHaveLength(50);
});

test('deletion clears away thousands that wait, and sends none of them', async () => {
  const receiver = await receive();
  receiver.answer = (_request, response) => setTimeout(() => response.writeHead(200).end(), 100);
  const to = await subscribe(await newWorkspace(), receiver.url);
  await tellMany(to, 5_000);
  work();
  await until(() => receiver.received.length > 0);
  const { workspace_id, endpoint_id } = to;
  await core.lane.submit(workspace_id, deleteWebhook, { endpoint_id }, origin);
  // The queue goes when what had been fetched at that very moment has ended.
  await until(async () => (await rows('select 1 from webhook_queues')).length === 0);
  const sent = receiver.received.length;
  expect(await waiting()).toBe(0);
  await new Promise((wait) => setTimeout(wait, 150));
  expect(receiver.received.length).toBe(sent);
  expect(sent).toBeLessThan(2_500);
});

test('a secret that cannot be read sends nothing, costs no attempt and holds up no other endpoint', async () => {
  const receiver = await receive();
  const workspace_id = await newWorkspace();
  const bad = await subscribe(workspace_id, receiver.url);
  const good = await subscribe(workspace_id, receiver.url);
  await superuser.query(
    `update webhook_endpoints set secrets = '[{"sealed":"AAAA","expires_at":null}]' where endpoint_id = $1`,
    [bad.endpoint_id],
  );
  await tell(bad);
  const event_id = await tell(good);
  work();
  await until(async () => (await attemptsOf(good)).length === 1);
  await new Promise((wait) => setTimeout(wait, 150));
  expect(receiver.received.map((each) => each.event.id)).toEqual([event_id]);
  expect(await rows('select attempts from webhook_deliveries')).toEqual([{ attempts: 0 }]);
  expect(await attemptsOf(bad)).toEqual([]);
});

test('a database that goes away for a while loses no result', async () => {
  const receiver = await receive();
  const to = await subscribe(await newWorkspace(), receiver.url);
  await tellMany(to, 30);
  let broken = 3;
  const shaky: Queryable = {
    query: (config) =>
      config.name === 'record_attempts' && broken-- > 0
        ? Promise.reject(new Error('connection terminated'))
        : db.query(config),
  };
  work({ db: shaky });
  await until(async () => (await waiting()) === 0);
  expect(await attemptsOf(to)).toHaveLength(30);
  expect(receiver.received).toHaveLength(30);
});

test('what is older than it is kept for is removed, a part of all workspaces at a time, and nothing else', async () => {
  const one = await subscribe(await newWorkspace(), 'http://127.0.0.1:9/');
  const other = await subscribe(await newWorkspace(), 'http://127.0.0.1:9/');
  const now_ms = Date.now();
  const put = async ({ workspace_id, endpoint_id }: typeof one, at_ms: number, count: number) => {
    const newId = makeIdsAt(at_ms, random);
    const at = new Date(at_ms).toISOString();
    const ids = (kind: 'event' | 'delivery') => Array.from({ length: count }, () => newId(kind));
    await superuser.query(
      `insert into webhook_events select $1, id, 'decision.created', '{}', $3 from unnest($2::text[]) id`,
      [workspace_id, ids('event'), at],
    );
    await superuser.query(
      `insert into webhook_attempts select $1, id, $4, 'evt_1', 'decision.created', 1, 'SUCCEEDED', 200, null, 1, $3, null
        from unnest($2::text[]) id`,
      [workspace_id, ids('delivery'), at, endpoint_id],
    );
    await superuser.query(
      'insert into webhook_deliveries select $1, $4, $3, id, 0 from unnest($2::text[]) id',
      [workspace_id, ids('event'), at, endpoint_id],
    );
  };
  for (const to of [one, other]) await put(to, now_ms - RETENTION_MS - 1_000, 700);
  await put(one, now_ms - RETENTION_MS + 60_000, 3);
  const cutoff_ms = now_ms - RETENTION_MS;
  expect(await pruneWebhooks(db, cutoff_ms, 1_000)).toBe(3_000);
  expect(await pruneWebhooks(db, cutoff_ms, 1_000)).toBe(1_200);
  expect(await pruneWebhooks(db, cutoff_ms, 1_000)).toBe(0);
  for (const table of ['events', 'attempts', 'deliveries']) {
    expect(await rows(`select count(*)::int as n from webhook_${table}`)).toEqual([{ n: 3 }]);
  }
});

/** `purser work`, a process of its own on the same database, with the real clock. */
function startProcess(): { child: ChildProcess; ended: Promise<{ code: number | null; output: string }> } {
  const child = spawn(process.execPath, [MAIN, 'work'], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: connectionUrl(database.connection).replace('@/', '@localhost/'),
      SECRET_KEY: SECRET_KEY.toString('base64'),
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    },
  });
  processes.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  }
  const ended = new Promise<{ code: number | null; output: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, output }));
  });
  return { child, ended };
}

test('a lease that was written at a time ahead, by a process that is gone, keeps no queue waiting', async () => {
  const receiver = await receive();
  const to = await subscribe(await newWorkspace(), receiver.url);
  await tell(to);
  const lease = (seconds: number) =>
    superuser.query(
      "update webhook_queues set leased_by = 'gone', leased_until = now() + make_interval(secs => $1) where endpoint_id = $2",
      [seconds, to.endpoint_id],
    );
  const taken = async () => {
    const now_ms = Date.now();
    const [now, end] = [now_ms + 1_000, now_ms + 16_000].map((ms) => new Date(ms).toISOString());
    const wanted = { worker: 'next', now: now as string, until: end as string, limit: 100 };
    const leased = await leaseQueues(db, wanted);
    return leased.some(({ endpoint_id }) => endpoint_id === to.endpoint_id);
  };
  await lease(15);
  expect(await taken()).toBe(false);
  await lease(40 * 86_400);
  expect(await taken()).toBe(true);
  await superuser.query('update webhook_queues set leased_by = null, leased_until = null');
});

test('what a process had sent when it was killed is sent again by another one, and counts as its first attempt', async () => {
  const receiver = await receive();
  const to = await subscribe(await newWorkspace(), receiver.url);
  const told = [await tell(to), await tell(to), await tell(to)];
  receiver.answer = () => {};
  const first = startProcess();
  await until(() => receiver.received.length === 3);
  first.child.kill('SIGKILL');
  await first.ended;
  expect(await attemptsOf(to)).toEqual([]);

  receiver.answer = (_request, response) => response.writeHead(200).end();
  // Its lease stands and would run out after 15 s; the test does not wait for that.
  expect(await rows('select leased_by is not null as held from webhook_queues')).toEqual([{ held: true }]);
  await superuser.query("update webhook_queues set leased_until = now() - interval '1 second'");
  const second = startProcess();
  await until(async () => (await attemptsOf(to)).length === 3);
  const attempts = await attemptsOf(to);
  expect(attempts.map(({ event_id }) => event_id).sort()).toEqual([...told].sort());
  expect(attempts.every(({ attempt, status }) => attempt === 1 && status === 'SUCCEEDED')).toBe(true);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(3);
  expect(receiver.received).toHaveLength(6);

  second.child.kill('SIGTERM');
  const { code, output } = await second.ended;
  expect(code).toBe(0);
  expect(output).not.toContain('whsec_');
  expect(await rows('select leased_by from webhook_queues')).toEqual([{ leased_by: null }]);
});
