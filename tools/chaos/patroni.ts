import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, chown, mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { freePort } from '../demo/purser-process.ts';
import { queryOnce } from './invariants.ts';

/** The programs of the cluster, as Debian installs them. */
const PROGRAMS = {
  patroni: '/usr/bin/patroni',
  'etcd-server': '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
  'redis-server': '/usr/bin/redis-server',
} as const;
const POSTGRES_DIR = '/usr/lib/postgresql';
const MEMBERS = 3;
const READY_WITHIN_MS = 120_000;
const POLL_MS = 100;
const END_WITHIN_MS = 20_000;

/**
 * What Patroni is told, as docs/guides/scaling.md and deploy/patroni have it. A primary that is gone is replaced when its
 * key in etcd has expired, after `ttl` seconds, of which 20 is the least that Patroni takes.
 */
const DCS = {
  ttl: 20,
  loop_wait: 2,
  retry_timeout: 3,
  primary_start_timeout: 0,
  master_start_timeout: 0,
  maximum_lag_on_failover: 1_048_576,
  synchronous_mode: true,
  synchronous_mode_strict: true,
  postgresql: {
    use_pg_rewind: true,
    parameters: { max_connections: 250, synchronous_commit: 'on', wal_log_hints: 'on', wal_keep_size: '1GB' },
  },
};

interface Programs {
  etcd: string;
  patroni: string;
  haproxy: string;
  redis: string;
  postgres_dir: string;
  /** PostgreSQL refuses to run as root; null: it runs as we do. */
  user: { uid: number; gid: number } | null;
}

/** The programs, or a sentence that says what is missing and how to get it. */
export async function findPrograms(): Promise<Programs | string> {
  const missing: string[] = [];
  for (const [name, file] of Object.entries(PROGRAMS)) {
    await access(file).catch(() => missing.push(name));
  }
  const versions = await readdir(POSTGRES_DIR).catch(() => []);
  const version = versions.map(Number).sort((a, b) => b - a)[0] ?? 0;
  if (version < 15) missing.push('postgresql');
  if (missing.length > 0) {
    return `${missing.join(', ')} not found: the cluster was left out whole. Debian has it: apt-get install patroni etcd-server haproxy redis-server postgresql python3-etcd python3-psycopg2`;
  }
  const is_root = process.getuid?.() === 0;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return {
    etcd: PROGRAMS['etcd-server'],
    patroni: PROGRAMS.patroni,
    haproxy: PROGRAMS.haproxy,
    redis: PROGRAMS['redis-server'],
    postgres_dir: join(POSTGRES_DIR, String(version), 'bin'),
    user: is_root ? { uid: id('-u'), gid: id('-g') } : null,
  };
}

/** One program of the cluster. */
export interface Daemon {
  start(): Promise<void>;
  /** Ends it without a word of warning. */
  kill(): Promise<void>;
  /** Asks it to end, and kills what does not. */
  end(): Promise<void>;
}

/** A program that writes to `NAME.log` in its directory; nothing runs yet. */
export function makeDaemon(options: {
  command: string;
  args: string[];
  dir: string;
  name: string;
  user: Programs['user'];
}): Daemon {
  let child: ChildProcess | null = null;
  const ended = () =>
    child === null || child.exitCode !== null || child.signalCode !== null
      ? Promise.resolve()
      : new Promise<void>((resolve) => child?.once('exit', () => resolve()));
  const kill = async () => {
    child?.kill('SIGKILL');
    await ended();
  };
  return {
    async start() {
      const log = await open(join(options.dir, `${options.name}.log`), 'a', 0o644);
      child = spawn(options.command, options.args, {
        cwd: options.dir,
        // In a process group of its own: Ctrl-C reaches us alone, and we end it.
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
        env: { PATH: process.env.PATH, HOME: options.dir, LANG: 'C.UTF-8' },
        ...(options.user ?? {}),
      });
      child.on('error', () => {});
      await log.close();
    },
    kill,
    async end() {
      child?.kill('SIGTERM');
      const timer = new AbortController();
      await Promise.race([ended(), wait(END_WITHIN_MS, null, { signal: timer.signal }).catch(() => null)]);
      timer.abort();
      await kill();
    },
  };
}

/** A PostgreSQL under Patroni. */
export interface Member {
  name: string;
  port: number;
  /** What Patroni says of it at `path`: 200 is yes. */
  is(path: '/primary' | '/replica' | '/sync'): Promise<boolean>;
  start(): Promise<void>;
  /** As a machine that loses its power: Patroni and its PostgreSQL are gone at once. */
  lose(): Promise<void>;
}

/** Three PostgreSQL under Patroni, HAProxy before them, etcd and Redis, all on loopback. */
export interface Cluster {
  members: readonly Member[];
  /** The port of HAProxy, which leads to the primary. */
  port: number;
  /** Connects as the superuser, through HAProxy. */
  superuser: pg.ClientConfig;
  redis: Pick<Daemon, 'start' | 'kill'> & { url: string };
  primary(): Promise<Member | null>;
  /** Resolves when there is a primary with a synchronous standby and so many members follow. */
  settled(members: number): Promise<void>;
  close(): Promise<void>;
}

async function untilTrue(what: string, look: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  const deadline_ms = performance.now() + READY_WITHIN_MS;
  while (!(await look().catch(() => false))) {
    signal.throwIfAborted();
    if (performance.now() > deadline_ms) throw new Error(`${what} within ${READY_WITHIN_MS / 1000} s.`);
    await wait(POLL_MS);
  }
}

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

/** The configuration of a member, which Patroni reads as YAML and JSON is. */
function patroniConfig(given: {
  name: string;
  dir: string;
  etcd_port: number;
  rest_port: number;
  port: number;
  password: string;
  postgres_dir: string;
}): string {
  const { name, dir, port, password } = given;
  return JSON.stringify({
    scope: 'purser',
    namespace: '/purser/',
    name,
    restapi: { listen: `127.0.0.1:${given.rest_port}`, connect_address: `127.0.0.1:${given.rest_port}` },
    etcd3: { hosts: [`127.0.0.1:${given.etcd_port}`] },
    bootstrap: { dcs: DCS, initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'] },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(dir, name, 'data'),
      bin_dir: given.postgres_dir,
      pgpass: join(dir, name, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
      },
      pg_hba: [
        'local all all peer',
        'host replication replicator 127.0.0.1/32 scram-sha-256',
        'host all all 127.0.0.1/32 scram-sha-256',
      ],
      parameters: { unix_socket_directories: join(dir, name), password_encryption: 'scram-sha-256' },
    },
    watchdog: { mode: 'off' },
  });
}

function haproxyConfig(port: number, members: readonly { name: string; port: number; rest_port: number }[]) {
  return `defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
listen primary
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${members.map((each) => `  server ${each.name} 127.0.0.1:${each.port} check port ${each.rest_port}`).join('\n')}
`;
}

/** Starts it all in `dir`, and resolves when there is a primary with a synchronous standby. */
export async function startCluster(programs: Programs, dir: string, signal: AbortSignal): Promise<Cluster> {
  const cluster = new OwnCluster(programs, dir, signal, await freePort(), await freePort());
  await cluster.prepare();
  try {
    await cluster.start();
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

const urlOf = (port: number) => `http://127.0.0.1:${port}`;

class OwnCluster implements Cluster {
  readonly members: (Member & { rest_port: number })[] = [];
  readonly port: number;
  readonly superuser: { host: string; port: number; user: string; password: string; database: string };
  readonly redis: Cluster['redis'];
  readonly #programs: Programs;
  readonly #dir: string;
  readonly #signal: AbortSignal;
  readonly #redis: Daemon;
  readonly #haproxy: Daemon;
  readonly #patroni: Daemon[] = [];
  #etcd: Daemon | null = null;
  #etcd_port = 0;

  constructor(programs: Programs, dir: string, signal: AbortSignal, port: number, redis_port: number) {
    this.#programs = programs;
    this.#dir = dir;
    this.#signal = signal;
    this.port = port;
    const password = randomBytes(18).toString('hex');
    this.superuser = { host: '127.0.0.1', port, user: 'postgres', password, database: 'purser' };
    const redis_args = ['--port', String(redis_port), '--bind', '127.0.0.1', '--save', ''];
    this.#redis = this.#daemon('redis', programs.redis, redis_args);
    this.redis = { ...this.#redis, url: `redis://127.0.0.1:${redis_port}` };
    this.#haproxy = this.#daemon('haproxy', programs.haproxy, ['-db', '-f', this.#haproxyFile()]);
  }

  /** Writes the configuration of every program. */
  async prepare(): Promise<void> {
    await this.#give(this.#dir);
    const peer_url = urlOf(await freePort());
    this.#etcd_port = await freePort();
    const url = urlOf(this.#etcd_port);
    this.#etcd = this.#daemon('etcd', this.#programs.etcd, [
      ...['--name', 'one', '--data-dir', join(this.#dir, 'etcd'), '--log-level', 'warn'],
      ...['--listen-client-urls', url, '--advertise-client-urls', url],
      ...['--listen-peer-urls', peer_url, '--initial-advertise-peer-urls', peer_url],
      ...['--initial-cluster', `one=${peer_url}`],
    ]);
    for (let i = 1; i <= MEMBERS; i++) await this.#addMember(`member${i}`);
    await writeFile(this.#haproxyFile(), haproxyConfig(this.port, this.members), { mode: 0o644 });
  }

  async start(): Promise<void> {
    await this.#etcd?.start();
    await untilTrue('etcd did not listen', () => listens(this.#etcd_port), this.#signal);
    await this.#redis.start();
    for (const member of this.members) await member.start();
    await this.#haproxy.start();
    await this.settled(MEMBERS);
    const as_postgres = { ...this.superuser, database: 'postgres' };
    await untilTrue(
      'HAProxy did not lead to the primary',
      () => queryOnce(as_postgres, 'select 1').then(() => true),
      this.#signal,
    );
    await queryOnce(as_postgres, `create role purser login createrole password '${this.superuser.password}'`);
    await queryOnce(as_postgres, 'create database purser owner purser');
  }

  async primary(): Promise<Member | null> {
    for (const member of this.members) if (await member.is('/primary')) return member;
    return null;
  }

  settled(count: number): Promise<void> {
    const countOf = async (path: '/replica' | '/sync') =>
      (await Promise.all(this.members.map((each) => each.is(path)))).filter(Boolean).length;
    return untilTrue(
      'No primary with a synchronous standby',
      async () => {
        const [replicas, standbys] = [await countOf('/replica'), await countOf('/sync')];
        return (await this.primary()) !== null && standbys > 0 && replicas >= count - 1;
      },
      this.#signal,
    );
  }

  async close(): Promise<void> {
    // HAProxy and Redis first, Patroni while etcd still listens, so that each PostgreSQL is stopped in order.
    await Promise.all([this.#redis.end(), this.#haproxy.end()]);
    await Promise.all(this.#patroni.map((each) => each.end()));
    for (const member of this.members) await member.lose();
    await this.#etcd?.end();
  }

  #haproxyFile(): string {
    return join(this.#dir, 'haproxy.cfg');
  }

  #daemon(name: string, command: string, args: string[]): Daemon {
    return makeDaemon({ command, args, dir: this.#dir, name, user: this.#programs.user });
  }

  /** Lets the user that PostgreSQL runs as own a file or folder. */
  async #give(path: string): Promise<void> {
    const { user } = this.#programs;
    if (user !== null) await chown(path, user.uid, user.gid);
  }

  async #addMember(name: string): Promise<void> {
    const dir = this.#dir;
    const { patroni: command, postgres_dir } = this.#programs;
    const [rest_port, port] = [await freePort(), await freePort()];
    const config_file = join(dir, `${name}.yml`);
    const { password } = this.superuser;
    const config = { name, dir, etcd_port: this.#etcd_port, rest_port, port, password, postgres_dir };
    await mkdir(join(dir, name), { mode: 0o700 });
    await this.#give(join(dir, name));
    await writeFile(config_file, patroniConfig(config), { mode: 0o600 });
    await this.#give(config_file);
    const patroni = this.#daemon(name, command, [config_file]);
    this.#patroni.push(patroni);
    this.members.push({
      name,
      port,
      rest_port,
      async is(path) {
        const asked = fetch(`${urlOf(rest_port)}${path}`, { signal: AbortSignal.timeout(2_000) });
        const answer = await asked.catch(() => null);
        await answer?.arrayBuffer();
        return answer?.status === 200;
      },
      start: patroni.start,
      async lose() {
        await patroni.kill();
        await killPostmaster(join(dir, name, 'data'));
      },
    });
  }
}

/** Kills the PostgreSQL on a data directory, where one runs. */
async function killPostmaster(data_dir: string): Promise<void> {
  const text = await readFile(join(data_dir, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n', 1)[0]);
  if (!(pid > 1)) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already and left its file.
  }
}
