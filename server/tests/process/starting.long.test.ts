import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { freePort } from '../../../tools/demo/purser-process.ts';
import { asSuperuser, createTestDatabase } from '../support/postgres.ts';
import { MAIN, test } from '../support/program.ts';
import { AUTHORITY, freshKey, spend } from '../support/running-service.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(10);

const NEW_KEY = randomBytes(32).toString('base64');

const keyIn = (text: string) => /sk_[0-9A-Za-z]{38}/.exec(text)?.[0];

interface Reply {
  status: number;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  body: any;
}

async function ask(
  url: string,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  idempotency_key?: string,
): Promise<Reply> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      'x-api-key': key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotency_key === undefined ? {} : { 'idempotency-key': idempotency_key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, body: text === '' ? undefined : JSON.parse(text) };
}

/**
 * Asks, and again where a machine that stands still for seconds got no answer by the service's deadline: what was
 * begun is done all the same, and is found with the same idempotency key.
 */
const call = (...request: Parameters<typeof ask>): Promise<Reply> =>
  until(async () => {
    const reply = await ask(...request);
    return reply.status === 503 ? null : reply;
  });
const MADE = [200, 201];

async function makeAgent(url: string, key: string): Promise<void> {
  const body = { slug: 'a', authority: AUTHORITY };
  const { status } = await call(url, key, 'POST', '/v1/agents', body);
  // It is there already where only the answer was too late.
  expect(status).toBeOneOf([201, 409]);
}

describe.concurrent('a data directory', () => {
  test('makes one workspace and one key, shown once; a second start keeps all; the command line works beside and alone', async ({
    run,
    emptyDirectory,
  }) => {
    const dir = emptyDirectory();
    const env = { DATA_DIR: dir };
    const first = run(['serve'], env);
    const url = await first.url;
    const key = keyIn(first.output()) as string;
    expect(statSync(join(dir, 'secret-key')).mode & 0o777).toBe(0o600);
    await makeAgent(url, key);
    const made = await call(url, key, 'POST', '/v1/decisions', spend('a', 5), 'k1');
    expect(made.status).toBeOneOf(MADE);

    const second = await run(['serve'], env).ended;
    expect([second.code, second.stdout]).toEqual([1, '']);
    expect(second.stderr).toMatch(/^purser: [^\n]*in use by another Purser[^\n]*\n$/);

    const beside = await run(
      ['workspace', 'create', '--name', 'Two', '--plan', 'free', '--trial-days', '3', '--json'],
      env,
    ).ended;
    expect([beside.code, beside.stderr]).toEqual([0, '']);
    const two = JSON.parse(beside.stdout) as { workspace_id: string; admin_key: string };
    expect(Object.keys(two)).toEqual(['workspace_id', 'admin_key']);
    expect((await call(url, two.admin_key, 'GET', '/v1/workspace')).body).toMatchObject({
      id: two.workspace_id,
      plan: 'free',
      trial: { active: true },
    });

    first.child.kill('SIGTERM');
    const stopped = await first.ended;
    expect(stopped.code).toBe(0);
    // The key is shown in the greeting (with the lines to paste), and in no line of the log.
    const log = stopped.stdout.split('\n').filter((line) => line.startsWith('{'));
    expect(log.length).toBeGreaterThan(3);
    expect(log.join('\n')).not.toContain('sk_');

    const alone = await run(['workspace', 'set-plan', '--workspace', two.workspace_id, '--plan', 'team'], env)
      .ended;
    expect([alone.code, alone.stdout]).toEqual([0, `${two.workspace_id} is on the team plan.\n`]);
    const verified = await run(['ledger', 'verify'], env).ended;
    expect([verified.code, verified.stdout.match(/ valid /g)?.length]).toEqual([0, 2]);

    const again = run(['serve'], env);
    const url2 = await again.url;
    expect(keyIn(again.output())).toBeUndefined();
    expect((await call(url2, key, 'POST', '/v1/decisions', spend('a', 5), 'k1')).text).toBe(made.text);
    const audit = (await call(url2, two.admin_key, 'GET', '/v1/audit')).body.data[0];
    expect(audit).toMatchObject({
      action: 'plan.changed',
      actor: { type: 'operator' },
      changes: { plan: { from: 'free', to: 'team' } },
    });
    again.child.kill('SIGINT');
    expect((await again.ended).code).toBe(0);
  });

  test('after kill -9 under load every answered decision is there, retries replay, and the chain is valid', async ({
    run,
    dataDirectory,
  }) => {
    const env = { DATA_DIR: dataDirectory(), BOOTSTRAP_ADMIN_KEY: `sk_${'b'.repeat(24)}`, LOG_LEVEL: 'warn' };
    const key = env.BOOTSTRAP_ADMIN_KEY;
    const first = run(['serve'], env);
    const url = await first.url;
    expect(first.output()).not.toContain(key);
    await makeAgent(url, key);
    const answered = new Map<string, string>();
    const tried: string[] = [];
    const clients = Array.from({ length: 8 }, async () => {
      for (;;) {
        const idempotency_key = freshKey();
        tried.push(idempotency_key);
        try {
          const reply = await call(url, key, 'POST', '/v1/decisions', spend('a', 5), idempotency_key);
          if (MADE.includes(reply.status)) answered.set(idempotency_key, reply.text);
        } catch {
          return;
        }
      }
    });
    while (answered.size <= 20) await new Promise((wait) => setTimeout(wait, 10));
    first.child.kill('SIGKILL');
    await Promise.all(clients);

    const again = run(['serve'], env);
    const url2 = await again.url;
    for (const idempotency_key of tried) {
      const reply = await call(url2, key, 'POST', '/v1/decisions', spend('a', 5), idempotency_key);
      const before = answered.get(idempotency_key);
      if (before === undefined) expect([200, 201]).toContain(reply.status);
      else expect([reply.status, reply.text]).toEqual([200, before]);
    }
    const verified = (await call(url2, key, 'GET', '/v1/ledger/verify')).body;
    expect([verified.valid, verified.events_checked]).toEqual([true, tried.length + 4]);
    again.child.kill('SIGTERM');
    expect((await again.ended).code).toBe(0);
  });

  test('SIGTERM under load leaves no request without an answer and exits 0', async ({
    run,
    dataDirectory,
  }) => {
    const env = { DATA_DIR: dataDirectory(), BOOTSTRAP_ADMIN_KEY: `sk_${'c'.repeat(24)}`, LOG_LEVEL: 'warn' };
    const key = env.BOOTSTRAP_ADMIN_KEY;
    const service = run(['serve'], env);
    const url = await service.url;
    await makeAgent(url, key);
    let answered = 0;
    const clients = Array.from({ length: 16 }, async () => {
      for (;;) {
        try {
          const reply = await ask(url, key, 'POST', '/v1/decisions', spend('a', 5), freshKey());
          expect(reply.status).toBe(201);
          answered += 1;
        } catch (error) {
          // The service has gone: the connection was refused or closed.
          if (error instanceof TypeError) return;
          throw error;
        }
      }
    });
    while (answered <= 20) await new Promise((wait) => setTimeout(wait, 10));
    service.child.kill('SIGTERM');
    await Promise.all(clients);
    const ended = await service.ended;
    expect(ended.code).toBe(0);
    // Every connection is closed before PostgreSQL is ended.
    expect(ended.stdout).not.toContain('a database connection broke');
    const again = run(['serve'], env);
    const { events_checked } = (await call(await again.url, key, 'GET', '/v1/ledger/verify')).body;
    // Each decision that was made was also answered.
    expect(events_checked).toBe(answered + 4);
    again.child.kill('SIGTERM');
    await again.ended;
  });
});

test.concurrent.for<[string, (child: ChildProcess) => unknown]>([
  ['has gone', (child: ChildProcess) => child.stdout?.destroy()],
  ['stands still', (child: ChildProcess) => child.stdout?.removeAllListeners('data').pause()],
])(
  'a reader of the log that %s holds up no request and no end',
  async ([_what, leave], { run, dataDirectory }) => {
    const key = `sk_${'e'.repeat(24)}`;
    const service = run(['serve'], { DATA_DIR: dataDirectory(), BOOTSTRAP_ADMIN_KEY: key });
    const url = await service.url;
    leave(service.child);
    // More lines than a pipe or socket and what waits before it can hold: some four times as many.
    const request_id = 'r'.repeat(128);
    for (let i = 0; i < 20; i++) {
      const replies = Array.from({ length: 100 }, () =>
        fetch(`${url}/healthz`, { headers: { 'x-request-id': request_id } }),
      );
      for (const reply of await Promise.all(replies)) {
        expect(reply.status).toBe(200);
        await reply.arrayBuffer();
      }
    }
    expect((await call(url, key, 'GET', '/v1/workspace')).status).toBe(200);
    const exited = new Promise((resolve) => service.child.on('exit', resolve));
    service.child.kill('SIGTERM');
    expect(await exited).toBe(0);
  },
);

test.concurrent('connections that say nothing, or never finish a request, keep no service from ending, nor its database', async ({
  run,
  dataDirectory,
}) => {
  const dir = dataDirectory();
  const service = run(['serve'], { DATA_DIR: dir });
  const { port, hostname } = new URL(await service.url);
  const sockets = ['', 'GET /healthz HTTP/1.1\r\nHost: a\r\n'].map((text) => {
    const socket = connect(Number(port), hostname, () => socket.write(text)).on('error', () => {});
    return socket;
  });
  await Promise.all(sockets.map((socket) => new Promise((ready) => socket.once('connect', ready))));
  expect((await fetch(`http://${hostname}:${port}/healthz`)).status).toBe(200);
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(0);
  // PostgreSQL removes it when it is stopped.
  expect(existsSync(join(dir, 'postgres', 'postmaster.pid'))).toBe(false);
});

const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
const hasDirectory = (dir: string, pid: number) =>
  read(join(dir, 'purser.lock')).startsWith(`process ${pid} `);
/** What a start comes by once it has the directory, told by what it leaves there; the database is made by the first that gets so far. */
const MOMENTS: [string, (dir: string) => boolean][] = [
  ['it has the directory', () => true],
  ['the database is being made', (dir) => existsSync(join(dir, 'postgres.new', 'PG_VERSION'))],
  ['PostgreSQL begins', (dir) => existsSync(join(dir, 'postgres', 'postmaster.pid'))],
  ['PostgreSQL can be asked', (dir) => existsSync(join(dir, 'socket', '.s.PGSQL.5432'))],
  ['PostgreSQL lets users in', (dir) => read(join(dir, 'postgres', 'postmaster.pid')).includes('ready')],
  ['it listens', () => false],
];

test.concurrent('SIGTERM at any moment of the start ends it cleanly, and the next start works', async ({
  run,
  emptyDirectory,
}) => {
  const dir = emptyDirectory();
  for (const [moment, isReached] of [['it has begun', null] as const, ...MOMENTS]) {
    const starting = run(['serve'], { DATA_DIR: dir });
    const pid = starting.child.pid as number;
    // A moment that went by unseen on a busy machine is over when it listens.
    const is_there = () => isReached === null || (hasDirectory(dir, pid) && isReached(dir));
    await until(() => is_there() || /Purser listens on|^purser: /m.test(starting.output()), 1);
    starting.child.kill('SIGTERM');
    const ended = await starting.ended;
    // Before Node has got to our code, the signal itself ends the process.
    expect([moment, ended.code, ended.stderr]).toEqual([
      moment,
      moment === 'it has begun' ? expect.toBeOneOf([0, null]) : 0,
      '',
    ]);
  }
  const service = run(['serve'], { DATA_DIR: dir });
  expect((await fetch(`${await service.url}/readyz`)).status).toBe(200);
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(0);
});

test.concurrent('a first start that is ended as soon as it listens has shown the key of the workspace it made', async ({
  run,
  dataDirectory,
}) => {
  const dir = dataDirectory();
  const port = await freePort();
  const first = run(['serve'], { DATA_DIR: dir, PORT: String(port) });
  const listens = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy() !== undefined));
      socket.on('error', () => resolve(false));
    });
  while (!(await listens())) await new Promise((wait) => setTimeout(wait, 2));
  first.child.kill('SIGTERM');
  const ended = await first.ended;
  expect(ended.code).toBe(0);

  const second = run(['serve'], { DATA_DIR: dir });
  const url = await second.url;
  const key = keyIn(ended.stdout) ?? keyIn(second.output());
  expect((await call(url, key ?? 'no key was shown', 'GET', '/v1/workspace')).status).toBe(200);
  second.child.kill('SIGTERM');
  await second.ended;
});

describe.concurrent('what stops a start, with one line and exit code 1', () => {
  test.for<[string, Record<string, string>, RegExp]>([
    ['a wrong value', { PORT: 'eighty' }, /^purser: PORT is "eighty", but must be [^\n]+\n$/],
    ['a short key', { BOOTSTRAP_ADMIN_KEY: 'sk_short' }, /^purser: BOOTSTRAP_ADMIN_KEY [^\n]+\n$/],
    [
      'a database without the secret',
      { DATABASE_URL: 'postgresql://x@127.0.0.1:9/x' },
      /^purser: SECRET_KEY [^\n]+\n$/,
    ],
    [
      'a database that is not there',
      { DATABASE_URL: 'postgresql://x:hidden@127.0.0.1:9/x', SECRET_KEY: NEW_KEY },
      /^purser: DATABASE_URL: [^\n]+\n$/,
    ],
    ['a data directory that is a file', { DATA_DIR: MAIN }, /^purser: [^\n]+\n$/],
  ])('%s', async ([_name, env, message], { run, emptyDirectory }) => {
    const ended = await run(['serve'], { DATA_DIR: emptyDirectory(), ...env }).ended;
    expect([ended.code, ended.stdout]).toEqual([1, '']);
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).not.toContain('hidden');
  });

  test('a host name that nobody knows', async ({ run, dataDirectory }) => {
    const ended = await run(['serve'], { DATA_DIR: dataDirectory(), HOST: 'nowhere.invalid' }).ended;
    expect(ended.code).toBe(1);
    expect(ended.stderr).toBe('purser: HOST: nowhere.invalid is not an address of this machine.\n');
  });

  test('a port in use, and the first key is not lost with it', async ({ run, dataDirectory }) => {
    const blocker = createServer();
    await new Promise<void>((ready) => blocker.listen(0, '127.0.0.1', ready));
    const { port } = blocker.address() as { port: number };
    const dir = dataDirectory();
    const ended = await run(['serve'], { DATA_DIR: dir, PORT: String(port) }).ended;
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/^purser: PORT: [^\n]*in use[^\n]*\n$/);
    blocker.close();
    const service = run(['serve'], { DATA_DIR: dir });
    const url = await service.url;
    // The workspace is made before anybody is served, so it is the failed start that shows its key.
    expect(keyIn(service.output())).toBeUndefined();
    expect((await call(url, keyIn(ended.stdout) as string, 'GET', '/v1/workspace')).status).toBe(200);
    service.child.kill('SIGTERM');
    await service.ended;
  });

  test('bad arguments of the command line', async ({ run, emptyDirectory }) => {
    const dir = emptyDirectory();
    for (const args of [
      ['workspace', 'create', '--plan', 'free'],
      ['workspace', 'create', '--name', 'x', '--plan', 'gold'],
      ['nonsense'],
    ]) {
      const ended = await run(args, { DATA_DIR: dir }).ended;
      expect([ended.code, ended.stdout]).toEqual([1, '']);
      expect(ended.stderr).toMatch(/^error: /);
    }
    expect((await run(['--help'], {}).ended).stdout).toContain('workspace');
  });
});

test.concurrent('nobody is served before the first workspace and its key are there, however many nodes start at once on one database', async ({
  run,
  emptyDirectory,
}) => {
  const database = await createTestDatabase();
  const { host, port, user, database: name } = database.connection;
  const url = `postgresql:///${name}?host=${encodeURIComponent(host)}&port=${port}&user=${user}`;
  const key = `sk_${'f'.repeat(24)}`;
  // As long as this session has the lock under which the first workspace is made, nobody can make it.
  const blocker = new pg.Client(database.connection);
  await blocker.connect();
  await blocker.query('select pg_advisory_lock(7291664302)');
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const nodes = ports.map((each) =>
    run(['serve'], {
      DATABASE_URL: url,
      SECRET_KEY: NEW_KEY,
      DATA_DIR: emptyDirectory(),
      BOOTSTRAP_ADMIN_KEY: key,
      PORT: String(each),
    }),
  );
  const waiting = `select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  while ((await blocker.query(waiting)).rows[0].n < nodes.length) {
    const ended = nodes.find((node) => node.child.exitCode !== null);
    if (ended !== undefined) throw new Error(`a node did not start: ${ended.output()}`);
    await new Promise((wait) => setTimeout(wait, 20));
  }
  for (const each of ports) {
    await expect(fetch(`http://127.0.0.1:${each}/readyz`)).rejects.toMatchObject({
      cause: { code: 'ECONNREFUSED' },
    });
  }
  await blocker.end();
  for (const node of nodes) {
    const address = await node.url;
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
    expect((await call(address, key, 'GET', '/v1/workspace')).status).toBe(200);
  }
  for (const node of nodes) node.child.kill('SIGTERM');
  for (const node of nodes) expect((await node.ended).code).toBe(0);
  const listed = await run(['workspace', 'list', '--json'], {
    DATABASE_URL: url,
    SECRET_KEY: NEW_KEY,
  }).ended;
  expect(JSON.parse(listed.stdout)).toHaveLength(1);
  await database.drop();
});

test.concurrent('with DATABASE_URL it serves on that server, guarded or not by a role of its own', async ({
  run,
}) => {
  const database = await createTestDatabase();
  await asSuperuser('drop role if exists plain_user');
  await asSuperuser('create role plain_user login');
  await asSuperuser(`alter database ${database.connection.database} owner to plain_user`);
  const { host, port, database: name } = database.connection;
  const url = `postgresql:///${name}?host=${encodeURIComponent(host)}&port=${port}&user=plain_user`;
  const service = run(['serve'], { DATABASE_URL: url, SECRET_KEY: NEW_KEY });
  const address = await service.url;
  const key = keyIn(service.output()) as string;
  await makeAgent(address, key);
  expect((await call(address, key, 'POST', '/v1/decisions', spend('a', 5), 'k')).status).toBeOneOf(MADE);
  service.child.kill('SIGTERM');
  const ended = await service.ended;
  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain('history is not guarded');
  await database.drop();
  await asSuperuser('drop role plain_user');
});

test.concurrent("a purpose model's key and what it is asked are in no line of the log, and plain http to it is warned of", async ({
  run,
  dataDirectory,
}) => {
  const model_key = 'sk-model-0123456789abcdef';
  const service = run(['serve'], {
    DATA_DIR: dataDirectory(),
    LOG_LEVEL: 'trace',
    BOOTSTRAP_ADMIN_KEY: `sk_${'c'.repeat(24)}`,
    // An address of documentation (RFC 5737): nobody is there.
    PURPOSE_MODEL_URL: 'http://192.0.2.1/v1',
    PURPOSE_MODEL: 'judge-1',
    PURPOSE_MODEL_API_KEY: model_key,
    PURPOSE_MODEL_TIMEOUT_MS: '100',
  });
  const url = await service.url;
  const key = `sk_${'c'.repeat(24)}`;
  await makeAgent(url, key);
  const { status, body } = await call(url, key, 'POST', '/v1/decisions', spend('a', 5), 'k1');
  expect([status, body.decision]).toEqual([expect.toBeOneOf(MADE), 'ALLOW']);
  expect(body.purpose.rationale).toContain('No second opinion: the model');
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  service.child.kill('SIGTERM');
  const { code, stdout, stderr } = await service.ended;
  expect(code).toBe(0);
  expect(stdout).toContain('PURPOSE_MODEL_URL is plain http to another machine');
  expect(stdout).toContain('the purpose model gave no opinion');
  expect(stdout + stderr).not.toContain(model_key);
  expect(stdout + stderr).not.toContain('A server for staging');
});

test.concurrent.for(['Promise.reject(failure)', 'setImmediate(() => { throw failure })'])(
  'a failure that nothing has caught is logged, what was accepted is answered, and the process ends with 1: %s',
  async (failing, { run, dataDirectory }) => {
    const preload = `const failure = new Error('left alone'); process.on('SIGUSR2', () => { ${failing} })`;
    const key = `sk_${'d'.repeat(24)}`;
    const service = run(['serve'], {
      DATA_DIR: dataDirectory(),
      BOOTSTRAP_ADMIN_KEY: key,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}`,
    });
    const url = await service.url;
    await makeAgent(url, key);
    const sockets = Array.from({ length: 10 }, () => connect(Number(new URL(url).port), '127.0.0.1'));
    const answers = sockets.map(() => '');
    sockets.forEach((socket, i) => {
      socket.on('data', (bytes) => {
        answers[i] += bytes.toString();
      });
      socket.write(`GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n`);
    });
    // A connection that is not accepted yet may be refused; these are.
    await Promise.all(sockets.map((socket) => new Promise((read) => socket.once('data', read))));
    sockets.forEach((socket, i) => {
      const body = JSON.stringify(spend('a', 5));
      socket.write(
        `POST /v1/decisions HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\nidempotency-key: k${i}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    });
    service.child.kill('SIGUSR2');
    await Promise.all(sockets.map((socket) => new Promise((closed) => socket.once('close', closed))));
    for (const answer of answers)
      expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 201']);
    const { code, stdout } = await service.ended;
    expect(code).toBe(1);
    expect(stdout).toMatch(/"level":60.*"message":"left alone".*an uncaught failure/);
  },
);
