import { ApiError, type RefusalReason } from '@purser/rules/errors';
import { pushTo } from '@purser/rules/values/maps';

/** Work in ms that may be done in one go. A single piece that takes longer is paid for afterwards. */
const MAX_AT_ONCE_MS = 2;
/** A piece that has waited this long is refused. With the wait for what is shared it stays below the deadline of 5 s. */
const MAX_WAIT_MS = 1_500;
/** The most pieces that wait under one name; a member of the name may have half of them. */
const MAX_WAITING = 1_000;
/** Settles a turn without competition. */
const NOT_CHARGED: Settle = () => {};
/** When there are more names than this, those that owe nothing are forgotten. */
const MAX_NAMES = 10_000;

interface Piece {
  member: string;
  since_ms: number;
  begin: () => void;
  refuse: () => void;
}

interface Account {
  name: string;
  /** Work in ms that passing time had not yet paid for at `at_ms`. */
  owed_ms: number;
  at_ms: number;
  /** By the member that asked for it, in the order of their turns. */
  turns: Map<string, Piece[]>;
  /** All waiting pieces, the oldest first. */
  waiting: Set<Piece>;
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
  /** True if nobody else wants the time now: then it is not shared. Default: somebody always does. */
  isAlone?: (name: string) => boolean;
  /**
   * It comes after everything else: also where nobody else wants the time, it lets the event loop turn every 2 ms, and goes
   * on at once if nobody else came in that turn.
   */
  is_background?: boolean;
  /** Calls `resume` after `wait_ms`. */
  after?: (wait_ms: number, resume: () => void) => void;
  /** Calls `resume` once everything has been done that came in meanwhile. */
  nextTurn?: (resume: () => void) => void;
  max_at_once_ms?: number;
  max_wait_ms?: number;
  max_waiting?: number;
}

const DEFAULTS = {
  isAlone: () => false,
  is_background: false,
  after: (wait_ms: number, resume: () => void) => void setTimeout(resume, wait_ms),
  nextTurn: (resume: () => void) => void setImmediate(resume),
  max_at_once_ms: MAX_AT_ONCE_MS,
  max_wait_ms: MAX_WAIT_MS,
  max_waiting: MAX_WAITING,
};

/**
 * Shares the event loop's time among names. Work under a name is done at once while the name has used less than its share
 * lately, or nobody else wants the time; otherwise it waits in order until passing time has paid for the earlier work. Other
 * names do not wait for it. Only waiting work keeps the process alive.
 */
export class WorkTime {
  readonly #options: Required<WorkTimeOptions>;
  readonly #accounts = new Map<string, Account>();
  readonly #refusal: ApiError;

  constructor(options: WorkTimeOptions) {
    this.#options = { ...DEFAULTS, ...options };
    this.#refusal = new ApiError(
      'unavailable',
      'This workspace is over its share of processing time. Retry later.',
      { retry_after_s: 1, reason: options.reason },
    );
  }

  /**
   * Does the work, at once where the name's share allows, and then returns its result without a promise. Waiting work is
   * done in turns of the `member`s that asked for it. Rejects with `unavailable` and `Retry-After` what has waited for 1.5 s,
   * and throws it at once where 1,000 pieces wait already, or 500 of the member. An error of the work is thrown, or rejects
   * the promise.
   */
  spend<T>(name: string, work: () => T, member = ''): T | Promise<T> {
    return this.#inTurn(name, member, work, (account) => this.#charged(account, work));
  }

  /**
   * Waits for a turn as `spend` does, for work that is done in parts, at various times. It is charged with `expected_ms` at
   * first; the caller tells what it took in the end.
   */
  reserve(name: string, expected_ms: number, member = ''): Settle | Promise<Settle> {
    return this.#inTurn(
      name,
      member,
      () => NOT_CHARGED,
      (account) => this.#reserved(account, expected_ms),
    );
  }

  /** Calls `begin` when it is the turn of a piece of work; at once where nobody else wants the time, and `alone` then. */
  #inTurn<T>(name: string, member: string, alone: () => T, begin: (account: Account) => T): T | Promise<T> {
    const { is_background, isAlone, max_at_once_ms, max_waiting } = this.#options;
    const account = this.#accountOf(name);
    if (account.waiting.size === 0) {
      // Nothing is charged for time that nobody else wanted.
      if (!is_background && isAlone(name)) return alone();
      if (this.#owedBy(account) < max_at_once_ms) return begin(account);
    }
    const of_member = account.turns.get(member)?.length ?? 0;
    if (account.waiting.size >= max_waiting || (member !== '' && of_member >= max_waiting / 2)) {
      throw this.#refusal;
    }
    return this.#wait(account, member, begin);
  }

  #wait<T>(account: Account, member: string, begin: (account: Account) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const piece: Piece = {
        member,
        since_ms: this.#options.now_ms(),
        begin() {
          try {
            resolve(begin(account));
          } catch (error) {
            reject(error);
          }
        },
        refuse: () => reject(this.#refusal),
      };
      pushTo(account.turns, member, piece);
      account.waiting.add(piece);
      if (account.waiting.size === 1) this.#resumeLater(account);
    });
  }

  #accountOf(name: string): Account {
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    if (this.#accounts.size >= MAX_NAMES) {
      for (const [other, account] of this.#accounts) {
        if (account.waiting.size === 0 && this.#owedBy(account) === 0) this.#accounts.delete(other);
      }
    }
    const at_ms = this.#options.now_ms();
    const account = { name, owed_ms: 0, at_ms, turns: new Map(), waiting: new Set<Piece>() };
    this.#accounts.set(name, account);
    return account;
  }

  #owedBy(account: Account): number {
    const at_ms = this.#options.now_ms();
    account.owed_ms = Math.max(0, account.owed_ms - (at_ms - account.at_ms) * this.#options.share);
    account.at_ms = at_ms;
    return account.owed_ms;
  }

  #charged<T>(account: Account, work: () => T): T {
    const { now_ms } = this.#options;
    const began_ms = now_ms();
    try {
      return work();
    } finally {
      account.owed_ms += now_ms() - began_ms;
    }
  }

  #reserved(account: Account, expected_ms: number): Settle {
    account.owed_ms += expected_ms;
    let is_settled = false;
    return (took_ms) => {
      if (is_settled) return;
      is_settled = true;
      account.owed_ms = Math.max(0, this.#owedBy(account) + took_ms - expected_ms);
    };
  }

  /** Goes on when it is time: where nobody else wants it after a turn of the event loop, which pays for everything. */
  #resumeLater(account: Account): void {
    const { isAlone, nextTurn } = this.#options;
    if (!isAlone(account.name)) this.#resumeWhenPaid(account);
    else {
      nextTurn(() => {
        if (isAlone(account.name)) {
          account.owed_ms = 0;
          this.#goOn(account);
        } else this.#resumeWhenPaid(account);
      });
    }
  }

  /** Waits until everything owed is paid, since a timer for each small piece would cost more than the piece. */
  #resumeWhenPaid(account: Account): void {
    const { share, now_ms, max_wait_ms, after } = this.#options;
    const [oldest] = account.waiting as Iterable<Piece>;
    const paid_ms = this.#owedBy(account) / share;
    const refused_ms = oldest === undefined ? paid_ms : oldest.since_ms + max_wait_ms - now_ms();
    after(Math.max(0, Math.ceil(Math.min(paid_ms, refused_ms))), () => this.#goOn(account));
  }

  #goOn(account: Account): void {
    const { now_ms, max_wait_ms, max_at_once_ms } = this.#options;
    for (const piece of account.waiting) {
      if (now_ms() - piece.since_ms < max_wait_ms) break;
      leave(account, piece);
      piece.refuse();
    }
    // What is left of a debt is paid in one wait.
    if (this.#owedBy(account) === 0) {
      while (account.waiting.size > 0 && this.#owedBy(account) < max_at_once_ms) nextOf(account).begin();
    }
    if (account.waiting.size > 0) this.#resumeLater(account);
  }
}

/** Removes and returns the next piece of work. A member with more of it goes to the end of the turns. */
function nextOf(account: Account): Piece {
  const [member, [piece]] = account.turns.entries().next().value as [string, [Piece]];
  leave(account, piece);
  const rest = account.turns.get(member);
  if (rest !== undefined) {
    account.turns.delete(member);
    account.turns.set(member, rest);
  }
  return piece;
}

function leave(account: Account, piece: Piece): void {
  account.waiting.delete(piece);
  const pieces = account.turns.get(piece.member) as Piece[];
  pieces.splice(pieces.indexOf(piece), 1);
  if (pieces.length === 0) account.turns.delete(piece.member);
}
