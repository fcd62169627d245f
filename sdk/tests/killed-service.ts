import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { untilPostgresIsGone } from '@purser/embedded-postgres';
import {
  freePort,
  makeDataDirectory,
  serviceEnvironment,
  startServing,
} from '../../tools/demo/purser-process.ts';
import type { FaultService } from './fault-run.ts';

/** The service as a process of its own, with its own PostgreSQL, that can be killed. */
export interface KilledService extends FaultService {
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it; resolves once it is ready. */
export async function startKilledService(): Promise<KilledService> {
  const data_dir = await makeDataDirectory(false);
  const admin_key = `sk_${randomBytes(24).toString('hex')}`;
  // Kept over its restarts.
  const port = await freePort();
  const env = serviceEnvironment(process.env, [], {
    DATA_DIR: data_dir,
    PORT: String(port),
    BOOTSTRAP_ADMIN_KEY: admin_key,
    BOOTSTRAP_PLAN: 'enterprise',
    RATE_LIMIT_PER_MINUTE: '10000000',
    LOG_LEVEL: 'warn',
  });
  const { signal } = new AbortController();
  const start = () => startServing({ env, output_file: join(data_dir, 'output.log'), signal });
  let serving = await start();
  return {
    url: `http://127.0.0.1:${port}`,
    admin_key,
    async restart() {
      await serving.kill();
      serving = await start();
    },
    async stop() {
      await serving.end();
      await untilPostgresIsGone(data_dir);
      await rm(data_dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}
