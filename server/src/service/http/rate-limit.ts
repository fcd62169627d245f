import { RateLimiterRes } from 'rate-limiter-flexible';
import { addressBlock } from './client-address.ts';
import type { Limiter, MakeLimiter } from './limiters.ts';

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

function makeCounter(limiter: Limiter, policy_name: string, points: number) {
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
 * id of the key.
 */
export function makeKeyLimit(points: number, makeLimiter: MakeLimiter): CountRequest {
  return makeCounter(makeLimiter('key', points, WINDOW_S), 'default', points);
}

/**
 * Makes the limit of requests with a missing, unknown, revoked or expired key, per client address. IPv6 clients are
 * counted by their /64. `now_ms` is a clock that never runs backwards.
 */
export function makeUnknownKeyLimit(
  points: number,
  now_ms: () => number,
  makeLimiter: MakeLimiter,
): CountRequest {
  const limiter = makeLimiter('address', points, WINDOW_S);
  return countAddresses(makeCounter(limiter, 'unknown-key', points), now_ms);
}

/** Makes the limit of requests to routes that take no key, per client address as above. `name`: of a route with a limit of its own. */
export function makePublicLimit(
  points: number,
  now_ms: () => number,
  makeLimiter: MakeLimiter,
  name = 'public',
): CountRequest {
  return countAddresses(makeCounter(makeLimiter(name, points, WINDOW_S), name, points), now_ms);
}

/** Makes the same limit for browsers that are known here, by their names. */
export function makeBrowserLimit(points: number, makeLimiter: MakeLimiter): CountRequest {
  return makeCounter(makeLimiter('browser', points, WINDOW_S), 'public', points);
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
