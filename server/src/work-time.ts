import { ApiError } from './errors.ts';

/** So much may be done in one go, ms; what takes longer by itself is paid for afterwards. */
const MAX_AT_ONCE_MS = 5;
/** So many wait for the time of one name; one more is refused. */
const MAX_WAITING = 200;
/** Names with nothing to pay for are forgotten when there are more than these. */
const MAX_NAMES = 10_000;

interface Account {
  /** Work done and not yet paid for by time that passed, ms, as it stood at `at_ms`. */
  owed_ms: number;
  at_ms: number;
  /** By who asked for it, in the order of their turns. */
  waiting: Map<string, (() => void)[]>;
  waiting_count: number;
}

/**
 * Shares of the event loop's time. Work under one name is done at once while the name has used less than its share
 * lately, and else waits in its order until it has paid; other names wait for nothing.
 */
export interface WorkTime {
  /**
   * Does the work, at once where it may: then its result is given as it is. What waits under a name is done in turns of
   * the `member`s that asked for it. `unavailable` with `Retry-After` when too much waits, of the name or, from half of
   * that on, of the member. What the work throws is thrown, or rejects.
   */
  spend<T>(name: string, work: () => T, member?: string): T | Promise<T>;
}

export interface WorkTimeOptions {
  /** Of the time that passes, how much work under one name may take: from 0 to 1. */
  share: number;
  /** Milliseconds of a clock that never runs backwards. */
  now_ms: () => number;
  /** Calls back after so many milliseconds. */
  after?: (wait_ms: number, resume: () => void) => void;
  max_at_once_ms?: number;
  max_waiting?: number;
}

/** Makes it. It keeps no process alive longer than the work that waits. */
export function makeWorkTime(options: WorkTimeOptions): WorkTime {
  const { share, now_ms, max_at_once_ms = MAX_AT_ONCE_MS, max_waiting = MAX_WAITING } = options;
  const after = options.after ?? ((wait_ms, resume) => void setTimeout(resume, wait_ms));
  const accounts = new Map<string, Account>();

  function owedBy(account: Account): number {
    const at_ms = now_ms();
    account.owed_ms = Math.max(0, account.owed_ms - (at_ms - account.at_ms) * share);
    account.at_ms = at_ms;
    return account.owed_ms;
  }

  function accountOf(name: string): Account {
    const known = accounts.get(name);
    if (known !== undefined) return known;
    if (accounts.size >= MAX_NAMES) {
      for (const [other, account] of accounts) {
        if (account.waiting_count === 0 && owedBy(account) === 0) accounts.delete(other);
      }
    }
    const account: Account = { owed_ms: 0, at_ms: now_ms(), waiting: new Map(), waiting_count: 0 };
    accounts.set(name, account);
    return account;
  }

  function charged<T>(account: Account, work: () => T): T {
    const began_ms = now_ms();
    try {
      return work();
    } finally {
      account.owed_ms += now_ms() - began_ms;
    }
  }

  /** All of what is owed is paid before the next is done: a timer for each small piece would cost more than it. */
  function resumeLater(account: Account): void {
    after(Math.ceil(owedBy(account) / share), () => {
      if (owedBy(account) > 0) return resumeLater(account);
      while (account.waiting_count > 0 && owedBy(account) < max_at_once_ms) nextOf(account)();
      if (account.waiting_count > 0) resumeLater(account);
    });
  }

  /** Takes out whose turn it is; who has more comes again after all others. */
  function nextOf(account: Account): () => void {
    const [member, works] = account.waiting.entries().next().value as [string, (() => void)[]];
    account.waiting.delete(member);
    if (works.length > 1) account.waiting.set(member, works);
    account.waiting_count -= 1;
    return works.shift() as () => void;
  }

  return {
    spend(name, work, member = '') {
      const account = accountOf(name);
      if (account.waiting_count === 0 && owedBy(account) < max_at_once_ms) return charged(account, work);
      const works = account.waiting.get(member) ?? [];
      if (account.waiting_count >= max_waiting || (member !== '' && works.length >= max_waiting / 2)) {
        throw new ApiError('unavailable', 'This workspace asks for more than its share of the time; retry.', {
          retry_after_s: 1,
        });
      }
      return new Promise((resolve, reject) => {
        works.push(() => {
          try {
            resolve(charged(account, work));
          } catch (error) {
            reject(error);
          }
        });
        account.waiting.set(member, works);
        account.waiting_count += 1;
        if (account.waiting_count === 1) resumeLater(account);
      });
    },
  };
}
