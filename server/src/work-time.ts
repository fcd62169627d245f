import { ApiError, type RefusalReason } from './errors.ts';

/** Work in ms that may be done in one go. A single piece that takes longer is paid for afterwards. */
const MAX_AT_ONCE_MS = 2;
/** How long the work that waits under one name may take to get done; beyond it, one more piece is refused. */
const MAX_WAIT_MS = 2_500;
/** Each piece of work counts so much in what a piece of its name is taken to last. */
const LAST_PIECE = 0.2;
/** What a turn took that nobody else wanted. */
const NOT_CHARGED: Settle = () => {};
/** When there are more names than this, those that owe nothing are forgotten. */
const MAX_NAMES = 10_000;

interface Account {
  /** Work in ms that passing time had not yet paid for at `at_ms`. */
  owed_ms: number;
  at_ms: number;
  /** What a piece of work has lasted lately, ms. */
  piece_ms: number;
  /** By the member that asked for it, in the order of their turns. */
  waiting: Map<string, (() => void)[]>;
  waiting_count: number;
}

/**
 * Shares the event loop's time among names. Work under a name is done at once while the name has used less than its share
 * lately, or nobody else is there; otherwise it waits in order until passing time has paid for the earlier work. Other names
 * do not wait for it.
 */
export interface WorkTime {
  /**
   * Does the work, at once where the name's share allows, and then returns its result without a promise. Waiting work is
   * done in turns of the `member`s that asked for it. Throws `unavailable` with `Retry-After` when what waits under the name
   * would take too long, or half of that for the member. An error of the work is thrown, or rejects the promise.
   */
  spend<T>(name: string, work: () => T, member?: string): T | Promise<T>;
  /**
   * Waits for a turn as `spend` does, for work that is done in parts, at various times. It is charged with `expected_ms` at
   * first; the caller tells what it took in the end.
   */
  reserve(name: string, expected_ms: number, member?: string): Settle | Promise<Settle>;
}

/** Tells what the work of a turn took, ms. Only the first call has an effect. */
export type Settle = (took_ms: number) => void;

export interface WorkTimeOptions {
  /** The reason of its refusals. */
  reason: RefusalReason;
  /** The share of passing time that work under one name may take: above 0, at most 1. */
  share: number;
  /** Milliseconds of a clock that never runs backwards. */
  now_ms: () => number;
  /** Whether nobody else wants the time now: then it is not shared. Default: somebody always does. */
  isAlone?: (name: string) => boolean;
  /** Calls `resume` after `wait_ms`. */
  after?: (wait_ms: number, resume: () => void) => void;
  max_at_once_ms?: number;
  max_wait_ms?: number;
}

/** Makes a `WorkTime`. Only waiting work keeps the process alive. */
export function makeWorkTime(options: WorkTimeOptions): WorkTime {
  const { share, now_ms, isAlone = () => false } = options;
  const { max_at_once_ms = MAX_AT_ONCE_MS, max_wait_ms = MAX_WAIT_MS } = options;
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
    const account = { owed_ms: 0, at_ms: now_ms(), piece_ms: 0, waiting: new Map(), waiting_count: 0 };
    accounts.set(name, account);
    return account;
  }

  function noteTaken(account: Account, took_ms: number): void {
    account.piece_ms += (took_ms - account.piece_ms) * LAST_PIECE;
  }

  function charged<T>(account: Account, work: () => T): T {
    const began_ms = now_ms();
    try {
      return work();
    } finally {
      const took_ms = now_ms() - began_ms;
      account.owed_ms += took_ms;
      noteTaken(account, took_ms);
    }
  }

  function reserved(account: Account, expected_ms: number): Settle {
    account.owed_ms += expected_ms;
    let is_settled = false;
    return (took_ms) => {
      if (is_settled) return;
      is_settled = true;
      account.owed_ms = Math.max(0, owedBy(account) + took_ms - expected_ms);
      noteTaken(account, took_ms);
    };
  }

  /** Waits until everything owed is paid: a timer for each small piece would cost more than the piece. */
  function resumeLater(account: Account): void {
    after(Math.ceil(owedBy(account) / share), () => {
      if (owedBy(account) > 0) return resumeLater(account);
      while (account.waiting_count > 0 && owedBy(account) < max_at_once_ms) nextOf(account)();
      if (account.waiting_count > 0) resumeLater(account);
    });
  }

  /** Removes and returns the next piece of work. A member with more of it goes to the end of the turns. */
  function nextOf(account: Account): () => void {
    const [member, works] = account.waiting.entries().next().value as [string, (() => void)[]];
    account.waiting.delete(member);
    if (works.length > 1) account.waiting.set(member, works);
    account.waiting_count -= 1;
    return works.shift() as () => void;
  }

  /** Calls `begin` when it is the turn of a piece of work; at once where nobody else wants the time, and `alone` then. */
  function inTurn<T>(name: string, member: string, alone: () => T, begin: (account: Account) => T) {
    const account = accountOf(name);
    if (account.waiting_count === 0) {
      // Nothing is charged for time that nobody else wanted.
      if (isAlone(name)) return alone();
      if (owedBy(account) < max_at_once_ms) return begin(account);
    }
    const works = account.waiting.get(member) ?? [];
    const lasts_ms = (pieces: number) => (pieces * account.piece_ms) / share;
    if (
      lasts_ms(account.waiting_count) >= max_wait_ms ||
      (member !== '' && lasts_ms(works.length) >= max_wait_ms / 2)
    ) {
      throw new ApiError('unavailable', 'More is asked for than one share of the time; retry.', {
        retry_after_s: 1,
        reason: options.reason,
      });
    }
    return new Promise<T>((resolve, reject) => {
      works.push(() => {
        try {
          resolve(begin(account));
        } catch (error) {
          reject(error);
        }
      });
      account.waiting.set(member, works);
      account.waiting_count += 1;
      if (account.waiting_count === 1) resumeLater(account);
    });
  }

  return {
    spend: (name, work, member = '') => inTurn(name, member, work, (account) => charged(account, work)),
    reserve: (name, expected_ms, member = '') =>
      inTurn(
        name,
        member,
        () => NOT_CHARGED,
        (account) => reserved(account, expected_ms),
      ),
  };
}
