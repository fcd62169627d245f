import { spawn } from 'node:child_process';
import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { locatePostgresBinaries } from './postgres-binaries.ts';
import {
  lastLines,
  POSTGRES_ENVIRONMENT,
  prepareCluster,
  prepareSocketDirectory,
} from './postgres-cluster.ts';
import { EmbeddedPostgresError } from './postgres-error.ts';
import { makePostgresRunner, type PostgresRunner } from './postgres-user.ts';
import {
  answersFor,
  PORT,
  type PostgresConnection,
  type PostmasterFile,
  readPostmasterFile,
  removeMisleadingLockFiles,
  SUPERUSER,
  withClient,
  worksOn,
} from './postmaster-file.ts';
import { isAlive, processStartTime } from './process-identity.ts';

export { EmbeddedPostgresError } from './postgres-error.ts';
export { type PostgresConnection, SUPERUSER } from './postmaster-file.ts';

/** The logger as pino has it. */
export interface PostgresLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** PostgreSQL ended although nobody asked it to; it is being started again. */
export interface UnexpectedExit {
  reason: string;
}

export interface EmbeddedPostgres {
  /** The database `purser` as the role `purser`, which owns it. Stays the same when PostgreSQL is restarted. */
  connection: PostgresConnection;
  /** The server was running already: left by an earlier service that did not end properly. */
  adopted: boolean;
  /** Is called each time PostgreSQL ends by itself, before it is started again. */
  onExit(callback: (exit: UnexpectedExit) => void): void;
  /**
   * Shuts PostgreSQL down, adopted or not: fast (open transactions are rolled back), and after `timeout_ms`
   * (default 8,000) at once, which costs a recovery at the next start and no data. Never rejects.
   */
  stop(options?: { timeout_ms?: number }): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** DATA_DIR; has to exist. The cluster is `postgres`, its log `postgres.log`, its socket `socket` in it. */
  data_dir: string;
  log: PostgresLog;
  /** Gives up a start in progress; whatever was started is stopped, and the promise rejects. */
  signal?: AbortSignal;
  /** Over the settings below; tests turn fsync off. */
  settings?: Readonly<Record<string, string>>;
}

const DATABASE = 'purser';
const ROLE = 'purser';

/** What differs from PostgreSQL's own defaults, and what must not be changed by a file in the cluster. */
const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  listen_addresses: '',
  port: String(PORT),
  unix_socket_permissions: '0700',
  // Three sessions stay reserved for the superuser, so that the supervisor always gets in.
  max_connections: '80',
  shared_buffers: '128MB',
  // Fewer checkpoints: after each one every page is written whole into the log once.
  max_wal_size: '2GB',
  wal_compression: 'on',
  // Every statement is small; compiling one costs more than running it.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // A node that hangs inside a transaction must not hold a workspace's lock for ever.
  idle_in_transaction_session_timeout: '30s',
  // A client that is gone is noticed while its query runs.
  client_connection_check_interval: '5s',
  log_checkpoints: 'off',
  // Error details repeat the values of rows, which belong to the customers.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
} as const;

const READY_TIMEOUT_MS = 10 * 60_000;
const POLL_MS = 50;
const RESTART_FIRST_MS = 200;
const RESTART_MAX_MS = 5_000;
/** A server that ran this long was well; the next restart is prompt again. */
const RESTART_RESET_MS = 60_000;
const STOP_FAST_MS = 8_000;
const STOP_IMMEDIATE_MS = 3_000;
const MAX_LOG_BYTES = 16 * 1024 * 1024;

/** A running server, our child or not. */
interface Postmaster {
  pid: number;
  started_at_ms: number;
  /** Resolves with the reason when it has ended; never rejects. */
  exited: Promise<string>;
  has_exited: boolean;
}

interface Place {
  data_dir: string;
  cluster_dir: string;
  log_file: string;
}

function placeOf(data_dir: string): Place {
  const absolute = resolve(data_dir);
  return {
    data_dir: absolute,
    cluster_dir: join(absolute, 'postgres'),
    log_file: join(absolute, 'postgres.log'),
  };
}

function connectionOf(file: { socket_dir: string; port: number }): PostgresConnection {
  return { host: file.socket_dir, port: file.port, user: ROLE, database: DATABASE };
}

/** Opens the log for appending, after moving a big one aside, so that two of a limited size are kept. */
async function openLog(log_file: string): Promise<FileHandle> {
  const found = await stat(log_file).catch(() => null);
  if (found !== null && found.size > MAX_LOG_BYTES) await rename(log_file, `${log_file}.1`);
  return open(log_file, 'a', 0o600);
}

/** Starts the server and returns at once; it is not ready yet. */
async function spawnPostmaster(
  place: Place,
  runner: PostgresRunner,
  settings: Readonly<Record<string, string>>,
): Promise<{ postmaster: Postmaster; readOutput: () => Promise<string> }> {
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { file, args, ...user } = runner.command('postgres', ['-D', place.cluster_dir, ...options]);
  const log = await openLog(place.log_file);
  const log_offset = (await log.stat()).size;
  try {
    // In a session of its own: a terminal's Ctrl-C goes to its whole process group, and the database has to
    // outlive the requests that are still in flight. Its output goes to a file, which outlives us.
    const child = spawn(file, args, {
      ...user,
      cwd: '/',
      detached: true,
      env: { ...POSTGRES_ENVIRONMENT },
      stdio: ['ignore', log.fd, log.fd],
    });
    child.unref();
    const postmaster: Postmaster = {
      pid: child.pid ?? 0,
      started_at_ms: performance.now(),
      has_exited: false,
      exited: new Promise((resolveExit) => {
        child.on('error', (error) => resolveExit(error.message));
        child.on('exit', (code, name) => resolveExit(name === null ? `exit code ${code}` : `signal ${name}`));
      }),
    };
    void postmaster.exited.then(() => {
      postmaster.has_exited = true;
    });
    const readOutput = async () => (await readFile(place.log_file)).subarray(log_offset).toString('utf8');
    return { postmaster, readOutput };
  } finally {
    await log.close();
  }
}

/** A server that is not our child: its end is noticed by asking. */
function watchPostmaster(pid: number): Postmaster {
  const start_time = processStartTime(pid);
  const postmaster: Postmaster = {
    pid,
    started_at_ms: performance.now(),
    has_exited: false,
    exited: new Promise((resolveExit) => {
      const timer = setInterval(() => {
        if (isAlive(pid) && processStartTime(pid) === start_time) return;
        clearInterval(timer);
        postmaster.has_exited = true;
        resolveExit('it is gone');
      }, POLL_MS);
      timer.unref();
    }),
  };
  return postmaster;
}

/**
 * The server that runs on a cluster already, once it answers; null when there is none, or it ends while we wait
 * (it may just be shutting down or recovering).
 */
async function findPostmaster(cluster_dir: string, signal?: AbortSignal): Promise<PostmasterFile | null> {
  const deadline_ms = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const file = await readPostmasterFile(cluster_dir);
    if (file === null || !isAlive(file.pid)) return null;
    if (await answersFor(connectionOf(file), cluster_dir)) return file;
    const is_on_cluster = await worksOn(file.pid, cluster_dir);
    if (is_on_cluster === false) return null;
    // Where the system does not tell, a process that answers nothing for a while is taken for another one.
    const limit_ms = is_on_cluster === null ? deadline_ms - READY_TIMEOUT_MS + 10_000 : deadline_ms;
    if (performance.now() > limit_ms) return null;
    await wait(POLL_MS, undefined, signal ? { signal } : {});
  }
}

async function waitUntilReady(
  postmaster: Postmaster,
  connection: PostgresConnection,
  place: Place,
  log: PostgresLog,
  signal: AbortSignal,
  readOutput: () => Promise<string>,
): Promise<void> {
  const begun_at_ms = performance.now();
  let next_notice_ms = begun_at_ms + 5_000;
  for (;;) {
    if (postmaster.has_exited) {
      throw new EmbeddedPostgresError(
        `PostgreSQL did not start (${await postmaster.exited}). The end of ${place.log_file}:${lastLines(await readOutput())}`,
      );
    }
    if (await answersFor(connection, place.cluster_dir)) return;
    const now_ms = performance.now();
    if (now_ms - begun_at_ms > READY_TIMEOUT_MS) {
      throw new EmbeddedPostgresError(
        `PostgreSQL was not ready after ${READY_TIMEOUT_MS / 60_000} minutes. The end of ${place.log_file}:${lastLines(await readOutput())}`,
      );
    }
    if (now_ms > next_notice_ms) {
      log.info({ waited_ms: Math.round(now_ms - begun_at_ms) }, 'PostgreSQL is still starting (recovering)');
      next_notice_ms = now_ms + 10_000;
    }
    await Promise.race([wait(POLL_MS, undefined, { signal }), postmaster.exited]);
  }
}

/** Makes the role and its database unless they exist. */
async function prepareDatabase(connection: PostgresConnection): Promise<void> {
  await withClient({ ...connection, ...SUPERUSER }, async (client) => {
    const role = await client.query('select from pg_roles where rolname = $1', [ROLE]);
    // The owner makes the lesser role that the service works under.
    if (role.rowCount === 0) await client.query(`create role ${ROLE} login createrole`);
    const database = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (database.rowCount === 0) await client.query(`create database ${DATABASE} owner ${ROLE}`);
  });
}

function send(signal: NodeJS.Signals, postmaster: Postmaster): void {
  try {
    if (!postmaster.has_exited && postmaster.pid > 0) process.kill(postmaster.pid, signal);
  } catch {
    // It ended just now.
  }
}

async function stopPostmaster(postmaster: Postmaster, log: PostgresLog, timeout_ms: number): Promise<void> {
  const endsWithin = async (limit_ms: number) => {
    const timer = new AbortController();
    const late = wait(limit_ms, 'late', { signal: timer.signal }).catch(() => 'late');
    const first = await Promise.race([postmaster.exited, late]);
    timer.abort();
    return first !== 'late';
  };
  send('SIGINT', postmaster);
  if (await endsWithin(timeout_ms)) return;
  log.warn({ timeout_ms }, 'PostgreSQL did not shut down in time and is stopped at once');
  send('SIGQUIT', postmaster);
  if (await endsWithin(STOP_IMMEDIATE_MS)) return;
  log.error({ pid: postmaster.pid }, 'PostgreSQL does not stop');
}

/**
 * The connection to the embedded PostgreSQL that runs on a data directory, for a command beside the service;
 * null when none runs. Starts and stops nothing.
 */
export async function findRunningEmbeddedPostgres(data_dir: string): Promise<PostgresConnection | null> {
  const { cluster_dir } = placeOf(data_dir);
  const file = await findPostmaster(cluster_dir);
  return file === null ? null : connectionOf(file);
}

/**
 * Starts the embedded PostgreSQL on a data directory, making the cluster, the role and the database on the
 * first start; or takes over the one that an earlier service left running there. Resolves when it answers. From
 * then on it is started again whenever it ends by itself, with growing waits of up to 5 seconds.
 * The caller holds the lock of the data directory.
 * Throws `EmbeddedPostgresError` with the last lines of PostgreSQL's log when it cannot be started.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log } = options;
  const place = placeOf(options.data_dir);
  const settings: Record<string, string> & { fsync: string } = { ...SETTINGS, ...options.settings };
  const callbacks: ((exit: UnexpectedExit) => void)[] = [];
  const stopping = new AbortController();
  const giveUp = () => stopping.abort();
  let current: Postmaster | null = null;
  let supervision = Promise.resolve();

  const binaries = await locatePostgresBinaries();
  const runner = await makePostgresRunner(binaries, place.data_dir, place.cluster_dir);

  const launch = async (socket_dir: string): Promise<PostgresConnection> => {
    const connection = connectionOf({ socket_dir, port: PORT });
    stopping.signal.throwIfAborted();
    await removeMisleadingLockFiles(place.cluster_dir, socket_dir);
    const all_settings = { ...settings, unix_socket_directories: `"${socket_dir.replaceAll('"', '""')}"` };
    const { postmaster, readOutput } = await spawnPostmaster(place, runner, all_settings);
    current = postmaster;
    try {
      await waitUntilReady(postmaster, connection, place, log, stopping.signal, readOutput);
      // A stop that came while this one was being spawned saw only its predecessor.
      stopping.signal.throwIfAborted();
    } catch (error) {
      await stopPostmaster(postmaster, log, STOP_FAST_MS);
      throw error;
    }
    return connection;
  };

  /** Follows one server to its end and starts the next, until the service stops. */
  const supervise = async (socket_dir: string): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const watched: Postmaster | null = current;
      if (watched === null) return;
      const reason = await watched.exited;
      if (stopping.signal.aborted) return;
      const ran_ms = performance.now() - watched.started_at_ms;
      if (ran_ms > RESTART_RESET_MS) failures = 0;
      const wait_ms = Math.min(RESTART_FIRST_MS * 2 ** failures, RESTART_MAX_MS);
      log.error(
        { reason, ran_ms: Math.round(ran_ms), wait_ms },
        'PostgreSQL ended by itself; starting it again',
      );
      for (const callback of callbacks) callback({ reason });
      failures += 1;
      try {
        await wait(wait_ms, undefined, { signal: stopping.signal });
        await launch(socket_dir);
        log.info({}, 'PostgreSQL runs again');
      } catch (error) {
        if (!stopping.signal.aborted) log.error({ err: error }, 'PostgreSQL could not be started again');
      }
    }
  };

  options.signal?.addEventListener('abort', giveUp, { once: true });
  if (options.signal?.aborted) giveUp();
  try {
    await prepareCluster(place.cluster_dir, runner, settings.fsync !== 'off');
    const found = await findPostmaster(place.cluster_dir, stopping.signal);
    let connection: PostgresConnection;
    let socket_dir: string;
    if (found === null) {
      socket_dir = await prepareSocketDirectory(place.data_dir, runner);
      connection = await launch(socket_dir);
    } else {
      log.warn({ pid: found.pid }, 'PostgreSQL was left running by an earlier service and is taken over');
      socket_dir = found.socket_dir;
      connection = connectionOf(found);
      current = watchPostmaster(found.pid);
    }
    await prepareDatabase(connection);
    options.signal?.removeEventListener('abort', giveUp);
    supervision = supervise(socket_dir);

    return {
      connection,
      adopted: found !== null,
      onExit: (callback) => void callbacks.push(callback),
      stop: async ({ timeout_ms = STOP_FAST_MS } = {}) => {
        stopping.abort();
        if (current !== null) await stopPostmaster(current, log, timeout_ms);
        await supervision;
      },
    };
  } catch (error) {
    if (current !== null) await stopPostmaster(current, log, STOP_FAST_MS);
    throw error;
  }
}
