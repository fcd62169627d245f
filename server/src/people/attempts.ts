import type { Redis } from 'ioredis';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import { ApiError } from '../errors.ts';
import { addressBlock } from '../http/client-address.ts';

const MAX_WRONG = 10;
const WINDOW_S = 15 * 60;

/** Whoever guesses at passwords: an address, and the e-mail that is guessed at. */
export interface Guesser {
  client_address: string;
  email: string;
}

/** Counts wrong passwords: 10 in 15 minutes for an address and an e-mail. */
export interface Attempts {
  /**
   * Counts an attempt before it is judged, so that any number at once are counted. Throws `rate_limited` over the limit,
   * after `onLocked` for the first one.
   */
  begin(guesser: Guesser, onLocked: () => Promise<void>): Promise<void>;
  /** The attempt was right: all that were counted are forgotten. */
  succeeded(guesser: Guesser): Promise<void>;
  /** The attempt could not be judged: it does not count. */
  unjudged(guesser: Guesser): Promise<void>;
}

/** Makes the counter: in Redis for all nodes together, in this process without it or while it does not answer. */
export function makeAttempts(redis: Redis | null): Attempts {
  const local = new RateLimiterMemory({ points: MAX_WRONG, duration: WINDOW_S });
  const limiter: RateLimiterAbstract =
    redis === null
      ? local
      : new RateLimiterRedis({
          storeClient: redis,
          points: MAX_WRONG,
          duration: WINDOW_S,
          keyPrefix: 'purser:sign-in',
          rejectIfRedisNotReady: true,
          insuranceLimiter: local,
        });
  const keyOf = ({ client_address, email }: Guesser) => `${addressBlock(client_address)} ${email}`;
  return {
    async begin(guesser, onLocked) {
      try {
        await limiter.consume(keyOf(guesser));
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        if (refusal.consumedPoints === MAX_WRONG + 1) await onLocked();
        const retry_after_s = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
        throw new ApiError('rate_limited', `Too many wrong attempts; retry after ${retry_after_s} s.`, {
          retry_after_s,
        });
      }
    },
    async succeeded(guesser) {
      await limiter.delete(keyOf(guesser));
    },
    async unjudged(guesser) {
      await limiter.reward(keyOf(guesser), 1);
    },
  };
}
