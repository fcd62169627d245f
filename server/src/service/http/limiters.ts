import type { Redis } from 'ioredis';
import {
  type RateLimiterAbstract,
  RateLimiterCluster,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible';

/** If the primary process takes longer than this, the process counts by itself. */
const PRIMARY_TIMEOUT_MS = 1_000;
const PREFIX = 'purser:';

/** Counts under names, up to a number in a time. What is over it rejects with `RateLimiterRes`; nothing else rejects. */
export type Limiter = Pick<RateLimiterAbstract, 'consume' | 'get' | 'penalty' | 'reward' | 'delete'>;

/** Makes a limiter of `points` in `duration_s`. Limiters of one `name` count together wherever anything is shared. */
export type MakeLimiter = (name: string, points: number, duration_s: number) => Limiter;

/** Counts in the primary process for all processes of the service, and here for as long as it does not answer. */
function makeProcessesLimiter(name: string, points: number, duration: number): RateLimiterAbstract {
  const keyPrefix = PREFIX + name;
  const shared = new RateLimiterCluster({ points, duration, keyPrefix, timeoutMs: PRIMARY_TIMEOUT_MS });
  const own = new RateLimiterMemory({ points, duration, keyPrefix });
  for (const method of ['consume', 'get', 'penalty', 'reward', 'delete'] as const) {
    const askPrimary = shared[method].bind(shared) as (key: string | number) => Promise<never>;
    const countHere = own[method].bind(own) as typeof askPrimary;
    shared[method] = (...call: Parameters<typeof askPrimary>) =>
      askPrimary(...call).catch((thrown: unknown) => {
        if (thrown instanceof RateLimiterRes) throw thrown;
        return countHere(...call);
      });
  }
  return shared;
}

/**
 * Returns what makes the limiters: in `redis` for all nodes together, or else, and for as long as it does not answer, for
 * the processes of this node where they have a primary (`has_primary`), or for this process alone.
 */
export function makeLimiters(redis: Redis | null, has_primary: boolean): MakeLimiter {
  return (name, points, duration) => {
    const local = has_primary
      ? makeProcessesLimiter(name, points, duration)
      : new RateLimiterMemory({ points, duration, keyPrefix: PREFIX + name });
    if (redis === null) return local;
    return new RateLimiterRedis({
      storeClient: redis,
      points,
      duration,
      keyPrefix: PREFIX + name,
      rejectIfRedisNotReady: true,
      insuranceLimiter: local,
    });
  };
}

/** Counts in this process alone. */
export const makeOwnLimiter = makeLimiters(null, false);
