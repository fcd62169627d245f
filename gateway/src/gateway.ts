import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Purser } from '@purser/sdk';
import { type Config, ConfigError } from './config.ts';
import { GatewayServer } from './http/server.ts';
import { UpstreamClient } from './http/upstream.ts';
import type { Log } from './log.ts';
import { Metrics } from './metrics.ts';
import { Callers } from './purses/callers.ts';
import { lockDirectory } from './purses/lock.ts';
import { Purses } from './purses/purses.ts';

export interface Gateway {
  url: string;
  /**
   * Waits 8 s for calls in flight, cuts off the others, reports what was spent, and stops, at the latest after 10 s. A call that
   * is cut off counts at its worst case.
   */
  stop(): Promise<void>;
}

const CALLS_MS = 8_000;
const REPORTS_MS = 9_500;

/** Identifies the time since the machine's last start: a restart may have lost writes that were not on the disk yet. */
function bootId(): string {
  try {
    if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return execFileSync('sysctl', ['-n', 'kern.boottime'], { encoding: 'utf8' }).trim();
  } catch {
    // Without an id, assume on each start of the gateway that the machine has restarted.
    return `unknown-${Date.now()}`;
  }
}

function clientOf({ purser_url, adapter_key }: Config): Purser {
  try {
    return new Purser({ apiKey: adapter_key, baseURL: purser_url });
  } catch (error) {
    throw new ConfigError(
      `PURSER_URL is ${JSON.stringify(purser_url)}, and must be right: ${(error as Error).message}`,
    );
  }
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new ConfigError(
      `GATEWAY_DATA_DIR is ${JSON.stringify(directory)}, and must be a directory that can be written: ${(error as Error).message}`,
    );
  }
}

/** Asks Purser whether it accepts the adapter key, at most once in `check_ms`. */
function makeReadiness(adapter: Purser, check_ms: number): () => Promise<boolean> {
  let asked_ms = Number.NEGATIVE_INFINITY;
  let answer = Promise.resolve(false);
  return () => {
    if (Date.now() - asked_ms >= check_ms) {
      asked_ms = Date.now();
      answer = adapter.apiKeys.current({ timeout: 5_000, maxRetries: 0 }).then(
        ({ scopes }) => scopes.includes('consume'),
        () => false,
      );
    }
    return answer;
  };
}

/** Starts a gateway. Rejects with a `ConfigError` for a setting that cannot be right. */
export async function startGateway(config: Config, log: Log): Promise<Gateway> {
  const adapter = clientOf(config);
  makeDirectory(config.data_dir);
  const unlock = await lockDirectory(config.data_dir, join(config.data_dir, 'gateway.lock'));
  const purses = new Purses({
    directory: config.data_dir,
    boot_id: bootId(),
    adapter,
    prices: config.prices,
    log,
    settings: { lease_minor: config.lease_minor, lease_ms: config.lease_ms, wait_ms: config.wait_ms },
    idle_ms: config.idle_ms,
    merchants: config.upstreams,
  });
  const client = new UpstreamClient();
  const server = new GatewayServer({
    config,
    callers: new Callers(config),
    purses,
    client,
    metrics: new Metrics(),
    log,
    isReady: makeReadiness(adapter, config.check_ms),
  });
  await new Promise<void>((resolve, reject) => {
    server.http.once('error', reject);
    server.http.listen(config.port, config.host, resolve);
  }).catch((error: Error) => {
    unlock();
    throw new ConfigError(`PORT is "${config.port}", and must be free on ${config.host}: ${error.message}`);
  });
  const { port } = server.http.address() as AddressInfo;
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const url = `http://${host}:${port}`;
  log('info', 'listening', { url, gateway: purses.gateway_id, prices: config.prices.hash });
  return {
    url,
    async stop() {
      const began_ms = Date.now();
      await server.drain(began_ms + CALLS_MS);
      // Cuts off the calls that are still open. They count before the purses are reported and the journal is closed.
      await client.close();
      await server.settled(began_ms + REPORTS_MS);
      const is_done = await purses.stop(began_ms + REPORTS_MS);
      if (!is_done) log('warn', 'Some leases are not reported yet; the next start reports them');
      unlock();
      log('info', 'stopped');
    },
  };
}
