import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { checkSessions } from '../../src/engine/migration/sessions-hold.ts';
import { endPool, isUnavailable, makePool, WrongSession } from '../../src/engine/storage/database.ts';
import { checkServer } from '../../src/service/installation/open-database.ts';
import {
  asSuperuser,
  connectionUrl,
  createMigratedDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../support/postgres.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.drop());
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Lends its connections to the database by transaction, each time the one that has rested longest. */
async function startLender(): Promise<number> {
  const { host, port } = database.connection;
  const idle: Socket[] = [];
  const sockets = new Set<Socket>();
  const owner = new Map<Socket, Socket>();
  const server: Server = createServer((client) => {
    sockets.add(client);
    const own = connect(`${host}/.s.PGSQL.${port}`);
    sockets.add(own);
    owner.set(own, client);
    let lent: Socket | null = own;
    const release = (to: Socket) => {
      owner.delete(to);
      idle.push(to);
    };
    let unread = Buffer.alloc(0);
    own.on('data', (chunk: Buffer) => {
      owner.get(own)?.write(chunk);
      unread = Buffer.concat([unread, chunk]);
      for (let length = 0; unread.length >= 5; unread = unread.subarray(length)) {
        length = 1 + unread.readUInt32BE(1);
        if (unread.length < length) break;
        // Ready for a query, outside of a transaction.
        const borrower = owner.get(own) as (Socket & { rest?: () => void }) | undefined;
        if (unread[0] === 0x5a && unread[5] === 0x49 && borrower !== undefined) {
          borrower.rest?.();
          release(own);
        }
      }
    });
    const rest = () => {
      lent = null;
    };
    Object.assign(client, { rest });
    client.on('data', (chunk) => {
      if (lent === null) {
        lent = idle.shift() as Socket;
        owner.set(lent, client);
      }
      lent.write(chunk);
    });
    for (const each of [client, own]) each.on('error', () => {});
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  closing.push(() => {
    for (const each of sockets) each.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

/** Leads to the database's socket, which another system user may not enter. */
async function startForwarder(): Promise<number> {
  const { host, port } = database.connection;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const own = connect(`${host}/.s.PGSQL.${port}`);
    client.pipe(own).pipe(client);
    for (const each of [client, own]) sockets.add(each.on('error', () => {}));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  closing.push(() => {
    for (const each of sockets) each.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

const PGBOUNCER = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((path) => existsSync(path));
if (PGBOUNCER === undefined)
  console.warn('PgBouncer is not installed: poolers are tried with a small one of the test alone.');

async function startPgBouncer(pool_mode: string): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'purser-pooler-'));
  const { user, database: name } = database.connection;
  const forwarder = await startForwarder();
  const listen_port = 29_700 + Math.floor(Math.random() * 100);
  writeFileSync(join(dir, 'users'), `"${user}" ""\n`);
  writeFileSync(
    join(dir, 'ini'),
    `[databases]\n${name} = host=127.0.0.1 port=${forwarder} user=${user} dbname=${name}\n[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port=${listen_port}\nauth_type=any\nauth_file=${dir}/users\npool_mode=${pool_mode}\ndefault_pool_size=20\nunix_socket_dir=\nlogfile=${dir}/log\n`,
  );
  spawnSync('chmod', ['-R', 'a+rwX', dir]);
  const as_other = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
  const child = spawn(PGBOUNCER as string, [...as_other, join(dir, 'ini')], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  closing.push(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(dir, { recursive: true, force: true });
  });
  await until(
    () =>
      new Promise<boolean>((resolve) => {
        const probe = connect(listen_port, '127.0.0.1', () => {
          probe.destroy();
          resolve(true);
        }).on('error', () => resolve(false));
      }),
  );
  return `postgresql://${user}@127.0.0.1:${listen_port}/${name}`;
}

describe('a database without sessions', () => {
  test('is refused where a pooler lends its connections by transaction, in one line with the cure', async () => {
    const { user, database: name } = database.connection;
    const url = `postgresql://${user}@127.0.0.1:${await startLender()}/${name}`;
    await expect(checkServer({ url })).rejects.toThrow(
      /^DATABASE_URL: the database is behind a pooler in transaction mode.*pool_mode to session/,
    );
  });

  test('is not found where there is none', async () => {
    await expect(checkSessions(database.connection)).resolves.toBeUndefined();
  });

  test.skipIf(PGBOUNCER === undefined).each(['transaction', 'statement'])(
    'is refused behind PgBouncer in mode %s',
    async (mode) => {
      await expect(checkServer({ url: await startPgBouncer(mode) })).rejects.toThrow(/pool_mode to session/);
    },
  );

  test.skipIf(PGBOUNCER === undefined)(
    'works behind PgBouncer in mode session, with role and settings',
    async () => {
      const url = await startPgBouncer('session');
      await checkServer({ url });
      const pool = makePool({ url }, { max: 8, role: 'purser_service', onBroken: () => {} });
      closing.push(() => endPool(pool));
      const seen = await Promise.all(
        Array.from({ length: 8 }, () =>
          pool.query("select current_user, current_setting('statement_timeout') as timeout, pg_sleep(0.05)"),
        ),
      );
      for (const { rows } of seen)
        expect(rows[0]).toMatchObject({ current_user: 'purser_service', timeout: '5s' });
    },
  );
});

describe('a connection of the service', () => {
  test('has the role and the settings, whatever the database sets for its users', async () => {
    const { database: name } = database.connection;
    await asSuperuser(`alter database ${name} set statement_timeout to 0`);
    await asSuperuser(`alter database ${name} set timezone to 'Pacific/Kiritimati'`);
    const pool = makePool(database.connection, {
      max: 1,
      role: 'purser_service',
      plan: 'index_lookup',
      onBroken: () => {},
    });
    closing.push(() => endPool(pool));
    const { rows } = await pool.query(
      "select current_user, current_setting('statement_timeout') as timeout, current_setting('TimeZone') as zone, current_setting('enable_seqscan') as seqscan",
    );
    expect(rows).toEqual([{ current_user: 'purser_service', timeout: '5s', zone: 'UTC', seqscan: 'off' }]);
  });

  test('that cannot take the role is closed, and its work is refused as unavailable', async () => {
    const user = `test_${database.connection.database.slice(-8)}`;
    await asSuperuser(`create role ${user} login`);
    closing.push(() => asSuperuser(`drop role ${user}`));
    const broken: Error[] = [];
    const pool = makePool(
      { ...database.connection, user },
      { max: 1, role: 'purser_service', onBroken: (error) => void broken.push(error) },
    );
    closing.push(() => endPool(pool));
    const failed = await pool.query('select 1').catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(WrongSession);
    expect(isUnavailable(failed)).toBe(true);
    expect(broken[0]).toBeInstanceOf(WrongSession);
  });
});

test.each([
  ['CockroachDB', 'CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu)'],
  ['YugabyteDB', 'PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64-pc-linux-gnu'],
])(
  'the start refuses %s in one line, unless the operator allows what nobody has tested',
  async (name, said) => {
    const made = await createTestDatabase();
    const owner = new pg.Client(made.connection);
    await owner.connect();
    await owner.query(
      `create schema fake; create function fake.version() returns text language sql as $$ select '${said}' $$`,
    );
    await owner.query(
      `alter database ${made.connection.database} set search_path = fake, pg_catalog, public`,
    );
    await owner.end();
    const url = connectionUrl(made.connection);
    await expect(checkServer({ url })).rejects.toThrow(
      `DATABASE_URL: ${name} is not tested and not supported`,
    );
    await checkServer({ url }, { allow_untested_engine: true });
    await made.drop();
  },
);

test.each([
  ['cannot be reached', { port: '1' }],
  ['refused this user', { username: 'nobody_of_that_name' }],
  ['does not exist', { pathname: '/no_such_database' }],
])('a database that %s is reported as such', async (problem, change) => {
  const { user, database: name } = database.connection;
  const url = new URL(`postgresql://${user}@127.0.0.1:${await startForwarder()}/${name}`);
  Object.assign(url, change);
  await expect(checkServer({ url: url.href })).rejects.toThrow(`DATABASE_URL: the database ${problem} (`);
});
