import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { type Config, SETTINGS } from '../config/config.ts';
import { StartError } from '../installation/open-database.ts';

const RESTART_FIRST_MS = 200;
const RESTART_MAX_MS = 5_000;

/** The program of the gateway's package, which is built beside this one. */
const program = () =>
  fileURLToPath(new URL('dist/main.js', import.meta.resolve('@purser/gateway/package.json')));

/** A gateway for model calls that runs beside the service. */
export interface GatewayBeside {
  url: string;
  /** Lets its calls finish and its leases be reported. Resolves when it has ended. */
  stop(): Promise<void>;
}

export interface BesideOptions {
  config: Pick<Config, 'gateway_port' | 'host' | 'data_dir'>;
  env: Readonly<Record<string, string | undefined>>;
  /** Where the service listens. */
  purser_url: string;
  adapter_key: string;
  log: Logger;
  /** Gets each line of the gateway's log. */
  write: (line: string) => void;
}

/** The gateway's settings: those of the environment that are none of the service's, whose secrets it need not know. */
function environmentOf({ config, env, purser_url, adapter_key }: BesideOptions, port: number) {
  const others = Object.entries(env).filter(([name]) => !Object.hasOwn(SETTINGS, name));
  const url = new URL(purser_url);
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  if (url.hostname === '[::]') url.hostname = '[::1]';
  return {
    GATEWAY_DATA_DIR: join(config.data_dir, 'gateway'),
    ...Object.fromEntries(others),
    PORT: String(port),
    HOST: config.host,
    PURSER_URL: url.origin,
    PURSER_ADAPTER_KEY: adapter_key,
  };
}

/** Starts the program. Resolves once it listens; rejects with a `StartError` that says why it ended. */
async function run(options: BesideOptions, port: number): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(program(), {
    // The channel tells it when this process is gone.
    env: environmentOf(options, port),
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let problem = '';
  child.stderr?.on('data', (text) => {
    problem += text;
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout as NodeJS.ReadableStream).on('line', (line) => {
      options.write(`${line}\n`);
      const [, found] = /"msg":"listening","url":"([^"]+)"/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('error', reject);
    child.once('close', () => {
      const said = problem
        .trim()
        .replace(/^purser-gateway: (PORT )?/, (_, port) => (port ? 'GATEWAY_PORT ' : ''));
      reject(new StartError(said === '' ? 'The gateway at GATEWAY_PORT ended during its start.' : said));
    });
  });
  return { child, url };
}

/**
 * Starts a gateway as a process of its own, and restarts it when it ends unasked, after a pause that grows. Rejects with a
 * `StartError` if the first one does not start.
 */
export async function startGatewayBeside(options: BesideOptions): Promise<GatewayBeside> {
  const { config, log } = options;
  let { child, url } = await run(options, config.gateway_port ?? 0);
  const port = Number(new URL(url).port);
  let is_stopping = false;
  let pause_ms = RESTART_FIRST_MS;
  let timer: NodeJS.Timeout | undefined;
  let starting: Promise<void> = Promise.resolve();
  const restart = (how: object) => {
    if (is_stopping) return;
    log.error(how, `the gateway ended; it restarts in ${pause_ms} ms`);
    timer = setTimeout(() => {
      starting = run(options, port).then(
        (running) => {
          child = running.child;
          pause_ms = RESTART_FIRST_MS;
          watch();
        },
        (error: unknown) => restart({ problem: String(error) }),
      );
    }, pause_ms);
    pause_ms = Math.min(2 * pause_ms, RESTART_MAX_MS);
  };
  const watch = () => child.once('exit', (code, signal) => restart({ code, signal }));
  watch();
  return {
    url,
    async stop() {
      is_stopping = true;
      clearTimeout(timer);
      await starting;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
