import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DATA_PARENT } from '../../../server/tests/support/memory.ts';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A service started by `npm start`. */
export interface RunningService {
  base_url: string;
  /** The setup link for the first administrator. */
  setup_url: string;
  data_dir: string;
  stop(): Promise<void>;
}

/** Environment variables shared by the service and the operator's command. */
function environment(data_dir: string, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { DATABASE_URL: _other, ...inherited } = process.env;
  return { ...inherited, DATA_DIR: data_dir, ...more };
}

/** Runs `npm start` on an empty data directory and waits until it listens. */
export async function startService(settings: Record<string, string> = {}): Promise<RunningService> {
  const data_dir = await mkdtemp(join(DATA_PARENT, 'purser-browser-'));
  const child = spawn('npm', ['start', '--silent'], {
    cwd: ROOT,
    // A separate process group, so that npm and the service end together.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(data_dir, {
      PORT: '0',
      HOST: '127.0.0.1',
      BOOTSTRAP_PLAN: 'team',
      // Pages without a session count as requests without a key, and all of them come from one address.
      UNKNOWN_KEY_LIMIT_PER_MINUTE: '100000',
      RATE_LIMIT_PER_MINUTE: '100000',
      // The tests' receivers listen on loopback, and retries must not delay the tests.
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      WEBHOOK_RETRY_FIRST_MS: '600000',
      WEBHOOK_RETRY_MAX_MS: '600000',
      LOG_LEVEL: 'warn',
      ...settings,
    }),
  });
  const ended = once(child, 'exit');
  let output = '';
  const listening = new Promise<RegExpExecArray>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
        const found = /Console\s+(http\S+\/console\/setup#\S+)/.exec(output);
        if (found !== null) resolve(found);
      });
    }
    child.on('error', reject);
    ended.then(() => reject(new Error(`the service ended before it listened:\n${output}`)));
  });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      process.kill(-(child.pid as number), 'SIGTERM');
      await ended;
    }
    await rm(data_dir, { recursive: true, force: true });
  };
  try {
    const setup_url = (await listening)[1] as string;
    return { base_url: new URL(setup_url).origin, setup_url, data_dir, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts the process that creates workspaces beside the service. */
export async function startWorkspaceMaker(data_dir: string): Promise<{ url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [join(ROOT, 'console', 'e2e', 'support', 'workspace-maker.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: environment(data_dir),
  });
  const ended = once(child, 'exit');
  const said = await Promise.race([once(child.stdout, 'data'), ended.then(() => null)]);
  if (said === null) throw new Error('what makes workspaces ended before it listened');
  return {
    url: String(said[0]).trim(),
    async stop() {
      child.kill();
      await ended;
    },
  };
}

/** Runs the operator's command beside the service and parses its JSON output. */
export async function operate<T>(data_dir: string, ...args: string[]): Promise<T> {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), ...args, '--json'], {
    cwd: ROOT,
    env: environment(data_dir),
  });
  return JSON.parse(stdout) as T;
}
