import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

/** How long a node waits for Redis. */
export interface Patience {
  /** If Redis takes longer to answer, the node counts by itself. */
  answer_ms: number;
  /** A connection on which nothing was received for this long is closed. */
  silent_ms: number;
}

const PATIENCE: Patience = { answer_ms: 250, silent_ms: 1_000 };
const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_FIRST_MS = 100;
const RECONNECT_MAX_MS = 2_000;

/** The Redis in which the nodes count together. */
export interface SharedCounts {
  client: Redis;
  close(): void;
}

/**
 * Connects to the Redis in which all nodes count requests. It waits for no connection, and reconnects until it is closed.
 * While Redis cannot be reached its commands fail at once, so that no request waits for it. The library is loaded here, so
 * that a process without Redis has none of it in memory.
 */
export async function connectSharedCounts(
  url: string,
  log: Logger,
  { answer_ms, silent_ms } = PATIENCE,
): Promise<SharedCounts> {
  const { Redis } = await import('ioredis');
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: answer_ms,
    socketTimeout: silent_ms,
    retryStrategy: (times) => Math.min(RECONNECT_FIRST_MS * 2 ** Math.min(times, 10), RECONNECT_MAX_MS),
  });
  let is_reported = false;
  // Only the message is logged, which names host and port: the address may contain a password.
  client.on('error', (error: Error) => {
    if (is_reported) return;
    is_reported = true;
    log.warn({ problem: error.message }, 'Redis cannot be reached; this node counts requests by itself');
  });
  client.on('ready', () => {
    is_reported = false;
    log.info({}, 'requests are counted in Redis');
  });
  return { client, close: () => client.disconnect() };
}
