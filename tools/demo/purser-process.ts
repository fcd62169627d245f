import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, readFile, rm, statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { untilPostgresIsGone } from '@purser/embedded-postgres';
import { SETTINGS } from '@purser/server/tools';

/** The service that is under way for a demo or a measurement, on a data directory of its own. */
export interface PurserProcess {
  base_url: string;
  admin_key: string;
  data_dir: string;
  pid: number;
  /** What it was started with; the operator's commands beside it take the same. */
  env: Record<string, string | undefined>;
  /** Resolves with a sentence when the process ends, wanted or not; never rejects. */
  exited: Promise<string>;
  /** The last lines of what it has written. */
  lastOutput(): Promise<string>;
  /** Ends the service and removes its data directory. May be called more than once; never rejects. */
  stop(): Promise<void>;
}

export interface PurserProcessOptions {
  /** Laid over the environment. The service's own settings are not taken from ours. */
  settings: Readonly<Record<string, string>>;
  /** Names of the service's settings that are taken over from our environment nevertheless. */
  inherited?: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  /** The data must lie on a disk, not in memory. */
  needs_disk?: boolean;
}

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

/** The service could not be started, or ended when it should not have. */
export class PurserProcessError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PurserProcessError';
  }
}

/** The service's program, compiled. */
export const MAIN_FILE = join(
  dirname(createRequire(import.meta.url).resolve('@purser/server/package.json')),
  'dist',
  'main.js',
);

const READY_TIMEOUT_MS = 120_000;
const POLL_MS = 50;
/** The service ends within 10 seconds by itself. */
const STOP_TIMEOUT_MS = 20_000;
const OUTPUT_LINES = 15;

/** File systems that keep everything in memory, by the number `statfs` gives: tmpfs, ramfs. */
const MEMORY_FILE_SYSTEMS = new Set([0x01021994, 0x858458f6]);

async function isInMemory(dir: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const { type } = await statfs(dir);
  return MEMORY_FILE_SYSTEMS.has(type);
}

/** As `npm start` runs the service (docs/decisions/0006). */
const YOUNG_MEMORY = '--max-semi-space-size=8';

/** Makes an empty directory; with `needs_disk` the first of the usual places that is not kept in memory. */
export async function makeDataDirectory(needs_disk: boolean): Promise<string> {
  if (!needs_disk) return mkdtemp(join(tmpdir(), 'purser-'));
  for (const parent of [tmpdir(), '/var/tmp', resolve('.')]) {
    const dir = await mkdtemp(join(parent, 'purser-')).catch(() => null);
    if (dir === null) continue;
    if (!(await isInMemory(dir))) return dir;
    await rm(dir, { recursive: true, force: true });
  }
  throw new PurserProcessError('No directory on a disk was found; set TMPDIR to one.');
}

/** The address in the service's output; the port is never 0. */
export function findAddress(output: string): string | null {
  const found = /\bhttps?:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):([1-9]\d{0,4})/.exec(output);
  return found === null ? null : found[0];
}

/** A `purser serve` process. */
export interface ServeProcess {
  base_url: string;
  pid: number;
  /** Resolves with a sentence when the process ends, wanted or not; never rejects. */
  exited: Promise<string>;
  /** The last lines of what it has written. */
  lastOutput(): Promise<string>;
  /** Ends it without a word of warning. */
  kill(): Promise<void>;
  /** Asks it to end, and resolves with how it did; killed when it takes more than 20 seconds. */
  end(): Promise<string>;
}

export interface ServeOptions {
  /** The whole environment of the process. */
  env: Readonly<Record<string, string | undefined>>;
  /** Its output is added at the end of this file. */
  output_file: string;
  signal: AbortSignal;
  /** Options of Node before the program. */
  node_options?: readonly string[];
}

/**
 * Starts the service, and resolves once it is ready. Throws `PurserProcessError` with the end of its output when it
 * does not get ready, and the signal's reason when that is aborted; in both cases it has ended.
 */
export async function startServing(options: ServeOptions): Promise<ServeProcess> {
  const { output_file, signal, env } = options;
  const output = await open(output_file, 'a', 0o600);
  const { size: written_before } = await output.stat();
  // In a process group of its own: Ctrl-C reaches us alone, and we ask it to end, once.
  const node_options = [YOUNG_MEMORY, ...(options.node_options ?? [])];
  const child = spawn(process.execPath, [...node_options, MAIN_FILE, 'serve'], {
    env,
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
  });
  const exited = new Promise<string>((resolveExit) => {
    child.on('error', (error) => resolveExit(`it could not be started: ${error.message}`));
    child.on('exit', (code, name) => resolveExit(name === null ? `exit code ${code}` : `signal ${name}`));
  });
  await output.close();
  const readOutput = async () =>
    (await readFile(output_file).catch(() => Buffer.alloc(0))).subarray(written_before).toString('utf8');
  const lastOutput = async () => (await readOutput()).trimEnd().split('\n').slice(-OUTPUT_LINES).join('\n');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  const end = async () => {
    child.kill('SIGTERM');
    const timer = new AbortController();
    const late = wait(STOP_TIMEOUT_MS, null, { signal: timer.signal }).catch(() => null);
    const how = await Promise.race([exited, late]);
    timer.abort();
    if (how !== null) return how;
    await kill();
    return exited;
  };
  try {
    const base_url = await waitUntilReady(readOutput, exited, signal);
    return { base_url, pid: child.pid ?? 0, exited, lastOutput, kill, end };
  } catch (error) {
    const shown = await lastOutput();
    await end();
    if (!(error instanceof PurserProcessError) || shown === '') throw error;
    throw new PurserProcessError(`${error.message} The end of its output:\n${shown}`);
  }
}

/**
 * Starts the service on a new temporary data directory with an admin key of its own, and resolves once it is
 * ready. Throws `PurserProcessError` with the end of its output when it does not get ready, and the signal's
 * reason when that is aborted; in both cases nothing is left behind.
 */
export async function startPurser(options: PurserProcessOptions): Promise<PurserProcess> {
  const { signal } = options;
  signal.throwIfAborted();
  const data_dir = await makeDataDirectory(options.needs_disk === true);
  const admin_key = `sk_${randomBytes(24).toString('hex')}`;
  const env = serviceEnvironment(options.env, options.inherited ?? [], {
    DATA_DIR: data_dir,
    BOOTSTRAP_ADMIN_KEY: admin_key,
    ...options.settings,
  });
  const remove = async () => {
    await untilPostgresIsGone(data_dir);
    await rm(data_dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  let serving: ServeProcess;
  try {
    // Beside the data directory's own files, so that it is removed with them.
    serving = await startServing({ env, output_file: join(data_dir, 'output.log'), signal });
  } catch (error) {
    await remove().catch(() => undefined);
    throw error;
  }
  const { base_url, pid, exited, lastOutput } = serving;
  let stopping: Promise<void> | null = null;
  const stop = () => {
    stopping ??= serving
      .end()
      .then(remove)
      .catch(() => undefined);
    return stopping;
  };
  return { base_url, admin_key, data_dir, pid, env, exited, lastOutput, stop };
}

/** An environment for the service: ours without its own settings, but for the `inherited`, and these laid over it. */
export function serviceEnvironment(
  ours: Readonly<Record<string, string | undefined>>,
  inherited: readonly string[],
  settings: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  const env: Record<string, string | undefined> = { ...ours };
  for (const name of Object.keys(SETTINGS)) {
    if (!inherited.includes(name)) delete env[name];
  }
  return { ...env, HOST: '127.0.0.1', PORT: '0', ...settings };
}

async function waitUntilReady(
  readOutput: () => Promise<string>,
  exited: Promise<string>,
  signal: AbortSignal,
): Promise<string> {
  let how: string | null = null;
  void exited.then((reason) => {
    how = reason;
  });
  const deadline_ms = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline_ms) {
    signal.throwIfAborted();
    if (how !== null) throw new PurserProcessError(`The service ended before it was ready (${how}).`);
    const base_url = findAddress(await readOutput());
    if (base_url !== null) {
      const answer = await fetch(`${base_url}/readyz`, { signal }).catch(() => null);
      await answer?.arrayBuffer();
      if (answer?.ok) return base_url;
    }
    await Promise.race([wait(POLL_MS), exited]);
  }
  throw new PurserProcessError(`The service was not ready after ${READY_TIMEOUT_MS / 1000} seconds.`);
}
