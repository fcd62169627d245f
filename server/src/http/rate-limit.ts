import type { Redis } from 'ioredis';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import { addressBlock } from './client-address.ts';

/** The `Retry-After` of a refusal: the whole window, as the interface specification has it. */
export const RETRY_AFTER_S = 60;

const WINDOW_S = 60;
/**
 * The most addresses that are counted separately in one window. All others share one count, which bounds the memory.
 */
const MAX_ADDRESSES = 20_000;

/** The state of a limit after a request was counted. */
export interface Count {
  within: boolean;
  /** Values of the `RateLimit-Policy` and `RateLimit` headers (draft-ietf-httpapi-ratelimit-headers). */
  policy: string;
  state: string;
}

/** Counts a request. Never rejects. */
export type CountRequest = (name: string) => Promise<Count>;

/** Counts in Redis, or in this process if there is no Redis or it does not answer. */
function makeLimiter(points: number, prefix: string, redis: Redis | null): RateLimiterAbstract {
  const local = new RateLimiterMemory({ points, duration: WINDOW_S });
  if (redis === null) return local;
  return new RateLimiterRedis({
    storeClient: redis,
    points,
    duration: WINDOW_S,
    keyPrefix: `purser:${prefix}`,
    rejectIfRedisNotReady: true,
    insuranceLimiter: local,
  });
}

function makeCounter(limiter: RateLimiterAbstract, policy_name: string, points: number) {
  const policy = `"${policy_name}";q=${points};w=${WINDOW_S}`;
  const prefix = `"${policy_name}";r=`;
  function count(result: RateLimiterRes, within: boolean): Count {
    const reset_s = Math.max(0, Math.ceil(result.msBeforeNext / 1000));
    return { within, policy, state: `${prefix}${within ? result.remainingPoints : 0};t=${reset_s}` };
  }
  return (name: string): Promise<Count> =>
    limiter.consume(name).then(
      (result) => count(result, true),
      (refusal: unknown) => {
        if (refusal instanceof RateLimiterRes) return count(refusal, false);
        throw refusal;
      },
    );
}

/**
 * Makes the limit of requests per key: `points` in a window of 60 s that begins with the first request. `name` is the
 * id of the key. With `redis` all nodes count together; each node counts by itself while Redis cannot be reached.
 */
export function makeKeyLimit(points: number, redis: Redis | null): CountRequest {
  return makeCounter(makeLimiter(points, 'key', redis), 'default', points);
}

/**
 * Makes the limit of requests with a missing, unknown, revoked or expired key, per client address. IPv6 clients are
 * counted by their /64. `now_ms` is a clock that never runs backwards. `redis` is used as for keys.
 */
export function makeUnknownKeyLimit(points: number, now_ms: () => number, redis: Redis | null): CountRequest {
  return countAddresses(makeCounter(makeLimiter(points, 'address', redis), 'unknown-key', points), now_ms);
}

/** Makes the limit of requests to routes that take no key, per client address as above. */
export function makePublicLimit(points: number, now_ms: () => number, redis: Redis | null): CountRequest {
  return countAddresses(makeCounter(makeLimiter(points, 'public', redis), 'public', points), now_ms);
}

/** Counts by address, a bounded number of them separately. */
function countAddresses(count: CountRequest, now_ms: () => number): CountRequest {
  const addresses = new Set<string>();
  let window_began_ms = now_ms();
  return async (name) => {
    const block = addressBlock(name);
    if (now_ms() - window_began_ms >= WINDOW_S * 1000) {
      window_began_ms = now_ms();
      addresses.clear();
    }
    if (!addresses.has(block)) {
      if (addresses.size >= MAX_ADDRESSES) return count('all other addresses');
      addresses.add(block);
    }
    return count(block);
  };
}
