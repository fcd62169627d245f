import { Redis } from 'ioredis';
import type { Logger } from 'pino';

/** Slower than this, a count is not worth waiting for: the process counts by itself. */
const COMMAND_TIMEOUT_MS = 250;
/** A connection that is silent for so long is given up. */
const SILENT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_FIRST_MS = 100;
const RECONNECT_MAX_MS = 2_000;

/** The Redis in which the nodes count together. */
export interface SharedCounts {
  client: Redis;
  close(): void;
}

/**
 * Connects to the Redis in which all nodes count requests; returns at once, and connects again for as long as it
 * is not closed. While it cannot be reached its commands fail at once, so that nobody waits for it.
 */
export function connectSharedCounts(url: string, log: Logger): SharedCounts {
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SILENT_MS,
    retryStrategy: (times) => Math.min(RECONNECT_FIRST_MS * 2 ** Math.min(times, 10), RECONNECT_MAX_MS),
  });
  let is_reported = false;
  // The address may hold a password: of an error its message alone is told, which names host and port.
  client.on('error', (error: Error) => {
    if (is_reported) return;
    is_reported = true;
    log.warn({ problem: error.message }, 'Redis cannot be reached; this process counts requests by itself');
  });
  client.on('ready', () => {
    is_reported = false;
    log.info({}, 'requests are counted in Redis');
  });
  return { client, close: () => client.disconnect() };
}
