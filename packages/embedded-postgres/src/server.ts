import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { locatePostgresBinaries } from './binaries.ts';
import {
  accessSettings,
  lastLines,
  lockCluster,
  prepareCluster,
  prepareSocketDirectory,
  writeAccess,
} from './cluster.ts';
import { EmbeddedPostgresError } from './error.ts';
import { type GuardedProcess, spawnGuarded } from './guarded-process.ts';
import {
  answersFor,
  PORT,
  type PostgresConnection,
  readPostmasterFile,
  removeLeftLockFiles,
  SUPERUSER,
  withClient,
} from './postmaster-file.ts';
import { makePostgresRunner, type PostgresRunner } from './system-user.ts';

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
  /** Is called each time PostgreSQL ends by itself, before it is started again. */
  onExit(callback: (exit: UnexpectedExit) => void): void;
  /**
   * Shuts PostgreSQL down: fast (open transactions are rolled back), and after 8 seconds at once, which costs a
   * recovery at the next start and no data. Resolves when it has ended; never rejects.
   */
  stop(): Promise<void>;
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

/** Settings that differ from PostgreSQL's defaults, or that no file in the cluster may change. */
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
const MAX_LOG_BYTES = 16 * 1024 * 1024;

interface Postmaster extends GuardedProcess {
  started_at_ms: number;
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

/** Starts the server, once nothing of an earlier one is left, and does not wait until it is ready. */
async function spawnPostmaster(
  place: Place,
  socket_dir: string,
  runner: PostgresRunner,
  settings: Readonly<Record<string, string>>,
  waiting: { signal: AbortSignal; onWait: () => void },
): Promise<{ postmaster: Postmaster; readOutput: () => Promise<string> }> {
  const all = {
    ...settings,
    ...accessSettings(place.cluster_dir),
    unix_socket_directories: `"${socket_dir.replaceAll('"', '""')}"`,
  };
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = runner.command('postgres', ['-D', place.cluster_dir, ...options]);
  const lock = await lockCluster(place.cluster_dir, waiting);
  try {
    await removeLeftLockFiles(place.cluster_dir, socket_dir);
    await writeAccess(place.cluster_dir, runner);
    // Its output goes to a file, which outlives us.
    const log = await openLog(place.log_file);
    try {
      const log_offset = (await log.stat()).size;
      waiting.signal.throwIfAborted();
      const started = spawnGuarded(command, lock, log.fd);
      const postmaster = { ...started, started_at_ms: performance.now(), has_exited: false };
      void postmaster.exited.then(() => {
        postmaster.has_exited = true;
      });
      const readOutput = async () => (await readFile(place.log_file)).subarray(log_offset).toString('utf8');
      return { postmaster, readOutput };
    } finally {
      await log.close();
    }
  } finally {
    // The server has it now.
    lock.release();
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

async function stopPostmaster(postmaster: Postmaster): Promise<void> {
  postmaster.end();
  await postmaster.exited;
}

/**
 * The connection to the embedded PostgreSQL that runs on a data directory, for a command beside the service;
 * null when none runs. Starts and stops nothing.
 */
export async function findRunningEmbeddedPostgres(data_dir: string): Promise<PostgresConnection | null> {
  const { cluster_dir } = placeOf(data_dir);
  const file = await readPostmasterFile(cluster_dir);
  return file !== null && (await answersFor(connectionOf(file), cluster_dir)) ? connectionOf(file) : null;
}

/** Resolves when no process of PostgreSQL is left on a data directory; for whoever wants to remove it. */
export async function untilPostgresIsGone(data_dir: string): Promise<void> {
  (await lockCluster(placeOf(data_dir).cluster_dir)).release();
}

/**
 * Starts the embedded PostgreSQL on a data directory, making the cluster, the role and the database on the first
 * start, once whatever an earlier service left running there has ended. Resolves when it answers. From then on it is
 * started again whenever it ends by itself, with growing waits of up to 5 seconds; it ends when this process does.
 * The caller holds the lock of the data directory.
 * Throws `EmbeddedPostgresError` with the last lines of PostgreSQL's log when it cannot be started.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const place = placeOf(options.data_dir);
  const binaries = await locatePostgresBinaries();
  const runner = await makePostgresRunner(binaries, place.data_dir, place.cluster_dir);
  const supervisor = new Supervisor(options, place, runner);
  const connection = await supervisor.start(options.signal);
  return {
    connection,
    onExit: (callback) => supervisor.onExit(callback),
    stop: () => supervisor.stop(),
  };
}

/** Keeps one server running, from its first start to its stop. */
class Supervisor {
  readonly #log: PostgresLog;
  readonly #place: Place;
  readonly #runner: PostgresRunner;
  readonly #settings: Record<string, string> & { fsync: string };
  readonly #callbacks: ((exit: UnexpectedExit) => void)[] = [];
  readonly #stopping = new AbortController();
  readonly #waiting: { signal: AbortSignal; onWait: () => void };
  #current: Postmaster | null = null;
  #supervision = Promise.resolve();

  constructor({ log, settings }: EmbeddedPostgresOptions, place: Place, runner: PostgresRunner) {
    this.#log = log;
    this.#place = place;
    this.#runner = runner;
    this.#settings = { ...SETTINGS, ...settings };
    this.#waiting = {
      signal: this.#stopping.signal,
      onWait: () => log.info({}, 'waiting for the PostgreSQL of an earlier start to end'),
    };
  }

  onExit(callback: (exit: UnexpectedExit) => void): void {
    this.#callbacks.push(callback);
  }

  /** Resolves when the server answers. `signal` gives the start up, and ends with it. */
  async start(signal: AbortSignal | undefined): Promise<PostgresConnection> {
    const { cluster_dir, data_dir } = this.#place;
    const giveUp = () => this.#stopping.abort();
    signal?.addEventListener('abort', giveUp, { once: true });
    if (signal?.aborted) giveUp();
    try {
      await prepareCluster(cluster_dir, this.#runner, this.#settings.fsync !== 'off', this.#waiting);
      const socket_dir = await prepareSocketDirectory(data_dir, this.#runner);
      const connection = await this.#launch(socket_dir);
      await prepareDatabase(connection);
      signal?.removeEventListener('abort', giveUp);
      this.#supervision = this.#supervise(socket_dir);
      return connection;
    } catch (error) {
      if (this.#current !== null) await stopPostmaster(this.#current);
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#current !== null) await stopPostmaster(this.#current);
    await this.#supervision;
    await untilPostgresIsGone(this.#place.data_dir);
  }

  async #launch(socket_dir: string): Promise<PostgresConnection> {
    const { signal } = this.#stopping;
    const place = this.#place;
    const connection = connectionOf({ socket_dir, port: PORT });
    const started = await spawnPostmaster(place, socket_dir, this.#runner, this.#settings, this.#waiting);
    const { postmaster, readOutput } = started;
    this.#current = postmaster;
    try {
      await waitUntilReady(postmaster, connection, place, this.#log, signal, readOutput);
      // A stop that came while this one was being spawned saw only its predecessor.
      signal.throwIfAborted();
    } catch (error) {
      await stopPostmaster(postmaster);
      throw error;
    }
    return connection;
  }

  /** Follows one server to its end and starts the next, until the service stops. */
  async #supervise(socket_dir: string): Promise<void> {
    const { signal } = this.#stopping;
    const log = this.#log;
    let failures = 0;
    while (!signal.aborted) {
      const watched = this.#current;
      if (watched === null) return;
      const reason = await watched.exited;
      if (signal.aborted) return;
      const ran_ms = performance.now() - watched.started_at_ms;
      if (ran_ms > RESTART_RESET_MS) failures = 0;
      const wait_ms = Math.min(RESTART_FIRST_MS * 2 ** failures, RESTART_MAX_MS);
      log.error(
        { reason, ran_ms: Math.round(ran_ms), wait_ms },
        'PostgreSQL ended unexpectedly; restarting it',
      );
      for (const callback of this.#callbacks) callback({ reason });
      failures += 1;
      try {
        await wait(wait_ms, undefined, { signal });
        await this.#launch(socket_dir);
        log.info({}, 'PostgreSQL runs again');
      } catch (error) {
        if (!signal.aborted) log.error({ err: error }, 'PostgreSQL could not be restarted');
      }
    }
  }
}
