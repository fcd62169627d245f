import { ApiError, authUnavailable } from '@purser/rules/errors';
import { valueIn } from '@purser/rules/values/maps';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { addressBlock } from '../http/client-address.ts';
import type { MakeLimiter } from '../http/limiters.ts';
import type { Mac } from '../installation/secrets.ts';

const MAX_WRONG = 10;
const WINDOW_S = 15 * 60;
/** An e-mail is guessed at no more often than this, from however many addresses; so it is with one device cookie. */
const MAX_WRONG_A_DAY = 50;
const DAY_S = 86_400;
/** The most attempts of one guesser that wait for others to be judged. */
const MAX_WAITING = 100;

/** The source of a password attempt. */
export type Guesser =
  /** Anybody at the door: counted by address and e-mail, and by e-mail over all addresses. */
  | { as: 'stranger'; client_address: string; email: string }
  /** A browser in which this very person signed in before. */
  | { as: 'device'; device_id: string }
  /** A session that asks for a fresh proof. */
  | { as: 'session'; session_id: string; user_id: string };

/** The limiters of one kind of guesser: that of 15 minutes, and that of a day. */
interface Limiters {
  limiter: ReturnType<MakeLimiter>;
  of_day: ReturnType<MakeLimiter>;
}

/** The counters of one guesser. */
interface Counters extends Limiters {
  name: string;
  day_name: string;
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

type Outcome = 'right' | 'wrong' | 'not judged';

/**
 * Limits wrong passwords: 10 in 15 minutes and 50 a day for each guesser. Strangers share 65,536 counters, which one is
 * theirs tells `mac`: so no flood of invented e-mails takes more memory, here or in Redis, and nobody can find an e-mail that
 * shares the counter of another one. Devices and sessions were given out here and have counters of their own, so that no
 * stranger can use theirs up.
 */
export class Attempts {
  readonly #mac: Mac;
  readonly #of_strangers: Limiters;
  readonly #of_known: Limiters;
  readonly #pending = new Map<string, Pending>();

  constructor(makeLimiter: MakeLimiter, mac: Mac) {
    const both = (name: string): Limiters => ({
      limiter: makeLimiter(name, MAX_WRONG, WINDOW_S),
      of_day: makeLimiter(`${name}-day`, MAX_WRONG_A_DAY, DAY_S),
    });
    this.#mac = mac;
    this.#of_strangers = both('sign-in');
    this.#of_known = both('known');
  }

  /**
   * Judges an attempt, unless its guesser has used up the wrong ones. It is counted before it is judged, so that any number
   * at once are counted; a right one is not counted in the end, and all wrong ones of its guesser are forgotten. An attempt
   * that finds no room only because others of the same guesser are still being judged waits for them. Throws
   * `rate_limited`, after `onLocked` for the first one; and what `judge` throws, which counts for nothing.
   */
  async judge(guesser: Guesser, judge: () => Promise<boolean>, onLocked: () => void): Promise<boolean> {
    const counters = this.#countersOf(guesser);
    await refuseIfUsedUpToday(counters, onLocked);
    const name = `${guesser.as} ${counters.name}`;
    const now = valueIn(this.#pending, name, () => ({
      present: 0,
      judged_now: 0,
      waiting: [],
      inTurn: makeTurns(),
    }));
    now.present += 1;
    try {
      await enter(counters, now, onLocked);
      let outcome: Outcome = 'not judged';
      try {
        outcome = (await judge()) ? 'right' : 'wrong';
      } finally {
        await end(counters, now, outcome);
      }
      if (outcome === 'wrong') await counters.of_day.penalty(counters.day_name, 1);
      return outcome === 'right';
    } finally {
      now.present -= 1;
      if (now.present === 0) this.#pending.delete(name);
    }
  }

  #countersOf(guesser: Guesser): Counters {
    if (guesser.as === 'device') {
      const { device_id } = guesser;
      return { ...this.#of_known, name: device_id, day_name: device_id };
    }
    if (guesser.as === 'session') {
      return { ...this.#of_known, name: guesser.session_id, day_name: guesser.user_id };
    }
    const { client_address, email } = guesser;
    return {
      ...this.#of_strangers,
      name: this.#counterOf(`${addressBlock(client_address)} ${email}`),
      day_name: this.#counterOf(email),
    };
  }

  #counterOf(text: string): string {
    return String(this.#mac(text).readUInt16BE(0));
  }
}

async function refuseIfUsedUpToday({ of_day, day_name }: Counters, onLocked: () => void): Promise<void> {
  const today = await of_day.get(day_name);
  if (today === null || today.consumedPoints < MAX_WRONG_A_DAY) return;
  refuse(await of_day.penalty(day_name, 1), MAX_WRONG_A_DAY, onLocked);
}

/** Counts an attempt, or waits until one that is being judged has made room, or refuses it. */
async function enter({ limiter, name }: Counters, now: Pending, onLocked: () => void): Promise<void> {
  for (;;) {
    let woken = Promise.resolve();
    const refusal = await now.inTurn(async () => {
      try {
        await limiter.consume(name);
        now.judged_now += 1;
        return null;
      } catch (thrown) {
        if (!(thrown instanceof RateLimiterRes)) throw thrown;
        if (now.judged_now === 0) return thrown;
        await limiter.reward(name, 1);
        if (now.waiting.length >= MAX_WAITING) throw authUnavailable(undefined, 'rate_limit');
        woken = new Promise((wake) => now.waiting.push(wake));
        return 'waits';
      }
    });
    if (refusal === null) return;
    if (refusal !== 'waits') refuse(refusal, MAX_WRONG, onLocked);
    await woken;
  }
}

/** Ends an attempt. A right one is forgotten with all wrong ones; those that are still being judged go on counting. */
function end({ limiter, name }: Counters, now: Pending, outcome: Outcome): Promise<void> {
  return now.inTurn(async () => {
    now.judged_now -= 1;
    const others = now.judged_now;
    for (const wake of now.waiting.splice(0)) wake();
    if (outcome === 'not judged') await limiter.reward(name, 1);
    else if (outcome === 'right') {
      await limiter.delete(name);
      if (others > 0) await limiter.penalty(name, others);
    }
  });
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

/** Refuses what is over a limit; `onLocked` hears of the first. */
function refuse(count: RateLimiterRes, max: number, onLocked: () => void): never {
  if (count.consumedPoints === max + 1) onLocked();
  const retry_after_s = Math.max(1, Math.ceil(count.msBeforeNext / 1000));
  throw new ApiError('rate_limited', `Too many failed attempts; retry after ${retry_after_s} s.`, {
    retry_after_s,
  });
}
