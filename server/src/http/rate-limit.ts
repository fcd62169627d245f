import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { addressBlock } from './client-address.ts';

/** What `Retry-After` says over a limit: the whole window, as the interface specification writes it. */
export const RETRY_AFTER_S = 60;

const WINDOW_S = 60;
/** New addresses remembered in one window; beyond it all further ones share a count, so memory stays bounded. */
const MOST_ADDRESSES = 20_000;

/** How a counted request stands. */
export interface Count {
  within: boolean;
  /** Values of the `RateLimit-Policy` and `RateLimit` headers (draft-ietf-httpapi-ratelimit-headers). */
  policy: string;
  state: string;
}

/** Counts a request; never fails. */
export type CountRequest = (name: string) => Promise<Count>;

function makeCounter(limiter: RateLimiterMemory, policy_name: string, points: number) {
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

/** Requests by key: `points` in any window of 60 s that begins with the first of them. `name` is the key's id. */
export function makeKeyLimit(points: number): CountRequest {
  return makeCounter(new RateLimiterMemory({ points, duration: WINDOW_S }), 'default', points);
}

/**
 * Requests with a missing, unknown, revoked or expired key, by client address. IPv6 clients are told apart by
 * their /64. `now_ms` only needs to move forward.
 */
export function makeUnknownKeyLimit(points: number, now_ms: () => number): CountRequest {
  const limiter = new RateLimiterMemory({ points, duration: WINDOW_S });
  const count = makeCounter(limiter, 'unknown-key', points);
  let window_began_ms = now_ms();
  let new_addresses = 0;
  return async (name) => {
    const block = addressBlock(name);
    const known = (await limiter.get(block)) !== null;
    if (!known) {
      if (now_ms() - window_began_ms >= WINDOW_S * 1000) {
        window_began_ms = now_ms();
        new_addresses = 0;
      }
      if (new_addresses >= MOST_ADDRESSES) return count('all other addresses');
      new_addresses++;
    }
    return count(block);
  };
}
