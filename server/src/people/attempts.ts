import { RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError, authUnavailable } from '../errors.ts';
import { addressBlock } from '../http/client-address.ts';
import type { MakeLimiter } from '../http/limiters.ts';

const MAX_WRONG = 10;
const WINDOW_S = 15 * 60;
/** Over all addresses: whoever guesses from very many of them guesses no more often than this. */
const MAX_WRONG_A_DAY = 50;
const DAY_S = 86_400;
/** How many attempts of one guesser may wait for others of theirs to be judged. */
const MAX_WAITING = 100;

/** Whoever guesses at passwords: an address, and the e-mail that is guessed at. */
export interface Guesser {
  client_address: string;
  email: string;
}

/** Limits wrong passwords: 10 in 15 minutes for an address and an e-mail, and 50 a day for an e-mail. */
export interface Attempts {
  /**
   * Judges an attempt, unless its guesser has used up the wrong ones. It is counted before it is judged, so that any number
   * at once are counted; a right one is not counted in the end, and all wrong ones of its guesser are forgotten. What finds
   * no room only because others of the same guesser are still being judged waits for them. The limit of a day spares
   * whoever `isKnown`. Throws `rate_limited`, after `onLocked` for the first one; and what `judge` throws, which counts for
   * nothing.
   */
  judge(
    guesser: Guesser,
    judge: () => Promise<boolean>,
    on: { isKnown: () => Promise<boolean>; onLocked: () => Promise<void> },
  ): Promise<boolean>;
}

/** The attempts of one guesser that are in this process. */
interface Pending {
  present: number;
  /** Counting is done by one after the other, so that no two of them take the same place. */
  inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  judged_now: number;
  /** Wakes those that wait for others to be judged. */
  waiting: (() => void)[];
}

/** Makes the limits. */
export function makeAttempts(makeLimiter: MakeLimiter): Attempts {
  const limiter = makeLimiter('sign-in', MAX_WRONG, WINDOW_S);
  const of_day = makeLimiter('sign-in-day', MAX_WRONG_A_DAY, DAY_S);
  const pending = new Map<string, Pending>();

  /** Counts an attempt, or waits until one that is being judged has made room, or refuses it. */
  async function enter(key: string, now: Pending, onLocked: () => Promise<void>): Promise<void> {
    for (;;) {
      let woken = Promise.resolve();
      const refusal = await now.inTurn(async () => {
        try {
          await limiter.consume(key);
          now.judged_now += 1;
          return null;
        } catch (thrown) {
          if (!(thrown instanceof RateLimiterRes)) throw thrown;
          if (now.judged_now === 0) return thrown;
          await limiter.reward(key, 1);
          if (now.waiting.length >= MAX_WAITING) throw authUnavailable(undefined, 'rate_limit');
          woken = new Promise((wake) => now.waiting.push(wake));
          return 'waits';
        }
      });
      if (refusal === null) return;
      if (refusal !== 'waits') return refuse(refusal, MAX_WRONG, onLocked);
      await woken;
    }
  }

  /** Ends an attempt. A right one is forgotten with all wrong ones; those that are still being judged go on counting. */
  const end = (key: string, now: Pending, outcome: 'right' | 'wrong' | 'not judged') =>
    now.inTurn(async () => {
      now.judged_now -= 1;
      const others = now.judged_now;
      for (const wake of now.waiting.splice(0)) wake();
      if (outcome === 'not judged') await limiter.reward(key, 1);
      else if (outcome === 'right') {
        await limiter.delete(key);
        if (others > 0) await limiter.penalty(key, others);
      }
    });

  return {
    async judge(guesser, judge, { isKnown, onLocked }) {
      const { client_address, email } = guesser;
      const today = await of_day.get(email);
      if (today !== null && today.consumedPoints >= MAX_WRONG_A_DAY && !(await isKnown())) {
        return refuse(await of_day.penalty(email, 1), MAX_WRONG_A_DAY, onLocked);
      }
      const key = `${addressBlock(client_address)} ${email}`;
      const now = pending.get(key) ?? { present: 0, judged_now: 0, waiting: [], inTurn: makeTurns() };
      pending.set(key, now);
      now.present += 1;
      try {
        await enter(key, now, onLocked);
        let outcome: 'right' | 'wrong' | 'not judged' = 'not judged';
        try {
          outcome = (await judge()) ? 'right' : 'wrong';
        } finally {
          await end(key, now, outcome);
        }
        if (outcome === 'wrong') await of_day.penalty(email, 1);
        return outcome === 'right';
      } finally {
        now.present -= 1;
        if (now.present === 0) pending.delete(key);
      }
    },
  };
}

/** Makes what runs works one after the other, in the order in which they come. */
function makeTurns(): Pending['inTurn'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine.catch(() => {});
    return mine;
  };
}

/** Refuses what is over a limit; the first that is over it is told. */
async function refuse(count: RateLimiterRes, max: number, onLocked: () => Promise<void>): Promise<never> {
  if (count.consumedPoints === max + 1) await onLocked();
  const retry_after_s = Math.max(1, Math.ceil(count.msBeforeNext / 1000));
  throw new ApiError('rate_limited', `Too many wrong attempts; retry after ${retry_after_s} s.`, {
    retry_after_s,
  });
}
