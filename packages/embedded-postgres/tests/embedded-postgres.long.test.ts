import { execFile, spawn } from 'node:child_process';
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { takesMinutes, until } from '../../../server/tests/support/until.ts';
import { copyForOtherUser, locatePostgresBinaries } from '../src/binaries.ts';
import { prepareCluster } from '../src/cluster.ts';
import { SUPERUSER } from '../src/postmaster-file.ts';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  findRunningEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../src/server.ts';
import { firstClosedDirectory, makePostgresRunner, nameOfUser } from '../src/system-user.ts';

takesMinutes(10);

const isRoot = process.getuid?.() === 0;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const dirs: string[] = [];
const servers: EmbeddedPostgres[] = [];

/** A new data directory; `mkdtemp` makes its parent one that only we can enter. */
async function makeDataDir(name = 'data'): Promise<string> {
  const parent_dir = await mkdtemp(join(tmpdir(), 'purser-test-'));
  dirs.push(parent_dir);
  const dir = join(parent_dir, name);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  return dir;
}

/** For tests that are not about durability. */
const FAST = { fsync: 'off' };

/** A cluster that `startEmbeddedPostgres` made and left, for tests that are not about making one: that takes a second. */
let made: Promise<string> | undefined;
async function makeOnce(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'purser-made-'));
  await (await startEmbeddedPostgres({ data_dir: dir, log, settings: FAST })).stop();
  return dir;
}
afterAll(async () => {
  if (made !== undefined) await rm(await made, { recursive: true, force: true });
});

/** A new data directory with a copy of that cluster. */
async function makeUsedDataDir(name?: string): Promise<string> {
  made ??= makeOnce();
  const dir = await makeDataDir(name);
  // Keeps whose the files are, which `cp` of Node does not.
  await promisify(execFile)('cp', ['-a', join(await made, 'postgres'), dir]);
  return dir;
}

async function start(data_dir: string, options: Partial<EmbeddedPostgresOptions> = {}) {
  const server = await startEmbeddedPostgres({ data_dir, log, settings: FAST, ...options });
  servers.push(server);
  return server;
}

async function query(
  server: { connection: pg.ClientConfig },
  text: string,
  user: object = {},
  connect = (client: pg.Client) => client.connect(),
) {
  const client = new pg.Client({ ...server.connection, ...user });
  client.on('error', () => undefined);
  await connect(client);
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Connects as another system user, whom the kernel notes at once. */
const connectAs = (uid: number) => (client: pg.Client) => {
  process.seteuid?.(uid);
  const connected = client.connect();
  process.seteuid?.(0);
  return connected;
};

async function pidOf(data_dir: string): Promise<number> {
  return Number((await readFile(join(data_dir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0]);
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  await Promise.all(dirs.splice(0).map((dir) => rm(dir, { recursive: true, force: true })));
});

describe('starting', () => {
  test('the first start makes a database owned by purser, and the next start finds its data again', async () => {
    const data_dir = await makeDataDir();
    const first = await start(data_dir, { settings: {} });
    await query(first, `create table kept (n int); insert into kept values (42)`);
    const [owner] = await query(
      first,
      `select pg_get_userbyid(datdba) as owner from pg_database where datname = current_database()`,
    );
    expect(owner).toEqual({ owner: 'purser' });
    const pid = await pidOf(data_dir);
    await first.stop();
    expect(isGone(pid)).toBe(true);

    const second = await start(data_dir, { settings: {} });
    expect(await query(second, 'select n from kept')).toEqual([{ n: 42 }]);
  });

  test('data is written durably, pages carry checksums and nothing listens on the network', async () => {
    const server = await start(await makeDataDir(), { settings: {} });
    const [settings] = await query(
      server,
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
         current_setting('full_page_writes') as pages, current_setting('data_checksums') as checksums,
         current_setting('listen_addresses') as addresses, current_setting('TimeZone') as zone,
         current_setting('server_encoding') as encoding`,
    );
    expect(settings).toEqual({
      fsync: 'on',
      commit: 'on',
      pages: 'on',
      checksums: 'on',
      addresses: '',
      zone: 'UTC',
      encoding: 'UTF8',
    });
  });

  test('letters outside ASCII are compared without case, and order is by bytes', async () => {
    const server = await start(await makeUsedDataDir());
    const [row] = await query(
      server,
      `select 'ÜBER Ångström ЖУК' ilike 'über ångström жук' as folded, 'Z' < 'a' as bytes`,
    );
    expect(row).toEqual({ folded: true, bytes: true });
  });

  test('the socket and the cluster can be entered by nobody else', async () => {
    const data_dir = await makeUsedDataDir();
    const server = await start(data_dir);
    for (const dir of [server.connection.host ?? '', join(data_dir, 'postgres')]) {
      expect((await stat(dir)).mode & 0o077).toBe(0);
    }
    expect((await stat(join(data_dir, 'postgres.log'))).mode & 0o077).toBe(0);
  });

  test('a path too long for a socket works, with the socket in a private directory elsewhere', async () => {
    const data_dir = await makeUsedDataDir(join('d'.repeat(60), 'e'.repeat(60)));
    if (isRoot) for (const dir of dirs) await chmod(dir, 0o755);
    const server = await start(data_dir);
    expect(server.connection.host?.startsWith(data_dir)).toBe(false);
    dirs.push(server.connection.host ?? '');
    expect((await stat(server.connection.host ?? '')).mode & 0o777).toBe(0o700);
    expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('an initialisation that was interrupted leaves nothing behind that fails later', async () => {
    const data_dir = await makeDataDir();
    // As it is left by a process that is gone: some files, and not the last ones.
    await mkdir(join(data_dir, `postgres.new-${2 ** 30}`, 'base'), { recursive: true });
    await writeFile(join(data_dir, `postgres.new-${2 ** 30}`, 'PG_VERSION'), '18\n');
    const server = await start(data_dir);
    expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect((await readdir(data_dir)).filter((name) => name.includes('.new-'))).toEqual([]);
  });

  test('a cluster of another PostgreSQL version is refused with what to do, and is left as it is', async () => {
    const data_dir = await makeDataDir();
    await mkdir(join(data_dir, 'postgres'));
    await writeFile(join(data_dir, 'postgres/PG_VERSION'), '16\n');
    await expect(start(data_dir)).rejects.toThrow(/created by PostgreSQL 16.*includes PostgreSQL 18/);
    expect(await readdir(join(data_dir, 'postgres'))).toEqual(['PG_VERSION']);
  });

  test('a directory that holds something else is refused', async () => {
    const data_dir = await makeDataDir();
    await mkdir(join(data_dir, 'postgres'));
    await writeFile(join(data_dir, 'postgres/letter.txt'), 'dear');
    await expect(start(data_dir)).rejects.toThrow(/is not a PostgreSQL database/);
  });

  test("a start that fails shows the end of PostgreSQL's own log", async () => {
    const settings = { ...FAST, shared_buffers: 'plenty' };
    await expect(start(await makeUsedDataDir(), { settings })).rejects.toThrow(
      /did not start[\s\S]*invalid value for parameter "shared_buffers"/,
    );
  });

  test('a start that is given up stops what it started', async () => {
    const data_dir = await makeUsedDataDir();
    await expect(start(data_dir, { signal: AbortSignal.timeout(15) })).rejects.toThrow();
    expect(await findRunningEmbeddedPostgres(data_dir)).toBe(null);
  });
});

describe('who is let in', () => {
  test('is told by the system user of the other end alone, in data made when everybody was trusted too', async () => {
    const data_dir = await makeUsedDataDir();
    const cluster_dir = join(data_dir, 'postgres');
    await writeFile(join(cluster_dir, 'pg_hba.conf'), 'local all all trust\nlocal replication all trust\n');
    await writeFile(join(cluster_dir, 'pg_ident.conf'), 'purser /.* all\n');
    await writeFile(join(cluster_dir, 'trusting.conf'), 'local all all trust\n');
    await writeFile(join(cluster_dir, 'postgresql.auto.conf'), "hba_file = 'trusting.conf'\n");

    const server = await start(data_dir);
    const rules = await query(
      server,
      `select type, database, user_name, auth_method, options, error from pg_hba_file_rules`,
      SUPERUSER,
    );
    const common = { type: 'local', user_name: ['all'], auth_method: 'peer', options: ['map=purser'] };
    expect(rules).toEqual([{ ...common, database: ['all', 'replication'], error: null }]);
    const mapped = await query(server, 'select sys_name from pg_ident_file_mappings', SUPERUSER);
    const postgres_user = await nameOfUser(isRoot ? await stat(cluster_dir) : null);
    expect(mapped).toEqual([{ sys_name: 'root' }, { sys_name: postgres_user }]);
  });

  test('is told to a user who is not, at once, and an edited file lasts until the next start', async () => {
    const data_dir = await makeUsedDataDir();
    const server = await start(data_dir);
    await writeFile(join(data_dir, 'postgres/pg_hba.conf'), 'local all all reject\n');
    await query(server, 'select pg_reload_conf()', SUPERUSER);
    const refused = await until(() => findRunningEmbeddedPostgres(data_dir).then(() => null, String));
    expect(refused).toMatch(/accepts only root, its own system user and the service's user/);
    await server.stop();
    expect(await query(await start(data_dir), 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('a server that runs already', () => {
  test('is found by a command beside the service, and null is answered when none runs', async () => {
    const data_dir = await makeUsedDataDir();
    expect(await findRunningEmbeddedPostgres(data_dir)).toBe(null);
    const server = await start(data_dir);
    const connection = await findRunningEmbeddedPostgres(data_dir);
    expect(connection).toEqual(server.connection);
    await server.stop();
    expect(await findRunningEmbeddedPostgres(data_dir)).toBe(null);
  });

  test('is not mistaken for an unrelated process that has its old process id', async () => {
    const data_dir = await makeUsedDataDir();
    await (await start(data_dir)).stop();
    // As after kill -9, in a container started again: the number now belongs to a process of the same user.
    const owner = await stat(join(data_dir, 'postgres'));
    const identity = isRoot ? { uid: owner.uid, gid: owner.gid } : {};
    const unrelated = spawn('sleep', ['60'], { ...identity, cwd: '/', stdio: 'ignore' });
    const lines = [
      unrelated.pid,
      join(data_dir, 'postgres'),
      1_700_000_000,
      5432,
      join(data_dir, 'socket'),
      '',
    ];
    for (const file of ['postgres/postmaster.pid', 'socket/.s.PGSQL.5432.lock']) {
      await writeFile(join(data_dir, file), lines.join('\n'), { mode: 0o600 });
      await chown(join(data_dir, file), owner.uid, owner.gid);
    }
    const again = await start(data_dir);
    expect(await query(again, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(unrelated.exitCode).toBe(null);
    unrelated.kill();
  });
});

describe('an unexpected end', () => {
  test('a killed server is started again by itself, keeps what was committed and is reported', async () => {
    const data_dir = await makeUsedDataDir();
    const server = await start(data_dir, { settings: {} });
    const reasons: string[] = [];
    server.onExit(({ reason }) => reasons.push(reason));
    await query(server, `create table kept (n int); insert into kept values (7)`);
    process.kill(await pidOf(data_dir), 'SIGKILL');

    const rows = await until(() => query(server, 'select n from kept').catch(() => null), 50);
    expect(rows).toEqual([{ n: 7 }]);
    // What is left of the killed one is waited for, so that the first start again succeeds.
    expect(reasons).toEqual(['signal SIGKILL']);
  });

  test('a stop while it is being started again leaves no server running', async () => {
    const data_dir = await makeUsedDataDir();
    const server = await start(data_dir);
    for (const delay_ms of [0, 210, 260]) {
      const other_dir = delay_ms === 0 ? data_dir : await makeUsedDataDir();
      const victim = delay_ms === 0 ? server : await start(other_dir);
      process.kill(await pidOf(other_dir), 'SIGKILL');
      await wait(delay_ms);
      await victim.stop();
      expect(await findRunningEmbeddedPostgres(other_dir)).toBe(null);
    }
  });

  test('a stop rolls back a transaction that is open, and does not wait for it', async () => {
    const data_dir = await makeUsedDataDir();
    const server = await start(data_dir);
    const client = new pg.Client(server.connection);
    client.on('error', () => undefined);
    await client.connect();
    await client.query('begin');
    await server.stop();
    const told = await readFile(join(data_dir, 'postgres.log'), 'utf8');
    expect(told).toContain('received fast shutdown request');
    expect(told).toContain('aborting any active transactions');
    await client.end().catch(() => undefined);
  });
});

describe('the programs', () => {
  test('a missing library link is made again', async () => {
    const { dir } = await locatePostgresBinaries();
    const link = join(dir, 'lib', 'libpq.so');
    await rm(link);
    await Promise.all([locatePostgresBinaries(), locatePostgresBinaries(), locatePostgresBinaries()]);
    expect((await stat(link)).isFile()).toBe(true);
    expect(
      (await readdir(join(dir, 'lib'))).filter((name) => /^libpq\.so\.[0-9a-f]{12}$/.test(name)),
    ).toEqual([]);
  });
});

// What follows is about running as root, and would have nothing to show otherwise.
if (isRoot) {
  describe('as root', () => {
    test('PostgreSQL runs as another user, below a directory that user cannot enter', async () => {
      const data_dir = await makeDataDir();
      const server = await start(data_dir);
      const cluster = await stat(join(data_dir, 'postgres'));
      expect(cluster.uid).not.toBe(0);
      expect(await firstClosedDirectory(data_dir, cluster)).toBe(join(data_dir, '..'));
      const status = await readFile(`/proc/${await pidOf(data_dir)}/status`, 'utf8');
      expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).toBe(String(cluster.uid));
      expect(/^Groups:[ \t]*(.*)$/m.exec(status)?.[1]).toBe('');
      const [row] = await query(server, 'select rolsuper from pg_roles where rolname = current_user');
      expect(row).toEqual({ rolsuper: false });
      await query(server, 'create database other', SUPERUSER);
    });

    test('another system user is refused, even where the socket is open to everyone', async () => {
      const data_dir = await makeUsedDataDir();
      const server = await start(data_dir);
      const socket_dir = join(data_dir, 'socket');
      for (const path of [...dirs, data_dir, socket_dir]) await chmod(path, 0o755);
      await chmod(join(socket_dir, '.s.PGSQL.5432'), 0o777);
      const { uid: postgres_uid } = await stat(join(data_dir, 'postgres'));
      for (const role of [SUPERUSER, {}]) {
        const askAs = (uid: number) => query(server, 'select 1 as one', role, connectAs(uid));
        expect(await askAs(postgres_uid)).toEqual([{ one: 1 }]);
        // One user that has a name, and one that has none.
        for (const uid of [2, 54_321]) await expect(askAs(uid)).rejects.toMatchObject({ code: '28000' });
      }
    });

    test('a link in the place of a file that says who is let in is not written through', async () => {
      const data_dir = await makeUsedDataDir();
      const precious = join(data_dir, '..', 'precious');
      await writeFile(precious, 'as it was');
      for (const name of ['pg_hba.conf', 'pg_hba.conf.new', 'pg_ident.conf', 'pg_ident.conf.new']) {
        await rm(join(data_dir, 'postgres', name), { force: true });
        await symlink(precious, join(data_dir, 'postgres', name));
      }
      await start(data_dir);
      expect(await readFile(precious, 'utf8')).toBe('as it was');
      expect((await stat(precious)).uid).toBe(0);
    });

    test('below an open directory PostgreSQL has no right that its user has not', async () => {
      const data_dir = await makeDataDir();
      for (const dir of dirs) await chmod(dir, 0o755);
      await start(data_dir);
      const status = await readFile(`/proc/${await pidOf(data_dir)}/status`, 'utf8');
      expect(/^CapEff:\s+0*$/m.test(status)).toBe(true);
      expect(/^Groups:[ \t]*(.*)$/m.exec(status)?.[1]).toBe('');
    });

    test('an installation the user cannot enter is run from a copy that only root can write', async () => {
      const { dir: installed, version } = await locatePostgresBinaries();
      const data_dir = await makeDataDir();
      const closed_dir = join(data_dir, '..', 'closed');
      await cp(installed, closed_dir, { recursive: true, verbatimSymlinks: true });
      const open_dir = await mkdtemp(join(tmpdir(), 'purser-test-'));
      dirs.push(open_dir);
      await chmod(open_dir, 0o755);
      vi.stubEnv('TMPDIR', open_dir);

      const runner = await makePostgresRunner(
        { dir: closed_dir, version },
        data_dir,
        join(data_dir, 'postgres'),
      );
      expect(runner.binaries.dir.startsWith(open_dir)).toBe(true);
      expect((await stat(runner.binaries.dir)).uid).toBe(0);
      await prepareCluster(join(data_dir, 'postgres'), runner, false);
      expect(await readdir(join(data_dir, 'postgres'))).toContain('PG_VERSION');
      expect(await readdir(open_dir)).toEqual([basename(runner.binaries.dir)]);
    });

    test('a copy that is damaged is made again, and one that another user made is never run', async () => {
      const { dir: installed, version } = await locatePostgresBinaries();
      const open_dir = await mkdtemp(join(tmpdir(), 'purser-test-'));
      dirs.push(open_dir);
      const first = await copyForOtherUser({ dir: installed, version }, open_dir);
      await truncate(join(first.dir, 'bin/postgres'), 100);
      const second = await copyForOtherUser({ dir: installed, version }, open_dir);
      expect(second).toEqual(first);
      const size = (await stat(join(installed, 'bin/postgres'))).size;
      expect((await stat(join(second.dir, 'bin/postgres'))).size).toBe(size);

      await chmod(join(first.dir, 'bin/postgres'), 0o757);
      await copyForOtherUser({ dir: installed, version }, open_dir);
      expect((await stat(join(first.dir, 'bin/postgres'))).mode & 0o022).toBe(0);

      await chown(first.dir, 65_534, 65_534);
      await expect(copyForOtherUser({ dir: installed, version }, open_dir)).rejects.toThrow(/Remove it/);
      expect(await readdir(open_dir)).toEqual([basename(first.dir)]);
    });
  });
}
