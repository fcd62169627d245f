import { type ApiError, overloaded, type RefusalReason } from '@purser/rules/errors';
import { valueIn } from '@purser/rules/values/maps';
import type { BackgroundTurns } from '@purser/rules/values/slices';
import { FairQueue, type Holder, Order } from './fair-queue.ts';
import { ofRead, type Priced } from './prices.ts';

/** Work that is done before others come in, by its price; background work by the clock. */
const SLICE_MS = 2;
/** The same of background work while somebody waits for a request. */
const SLICE_BESIDE_MS = 0.5;
/** While somebody waits for a request, background work begins again after this multiple of the time that its slice took. */
const BACKGROUND_EVERY = 25;
const MAX_REST_MS = 50;
/** A client that asks one thing after another waits again within this time. */
const QUIET_MS = 10;
/** After a piece of work in the database, other background work waits for this multiple of its price. */
const REST = 3;
/** At its turn a request is refused that has waited this long. It stays below the deadline of 5 s. */
export const MAX_WAIT_MS = 2_500;

interface Piece extends Holder {
  /** Does it, or refuses what has waited for too long. */
  take: () => void;
}

export interface TurnsOptions {
  /** Milliseconds of a clock that never runs backwards. */
  now_ms: () => number;
  /** Calls `resume` after `wait_ms`. */
  after?: (wait_ms: number, resume: () => void) => void;
  /** Calls `resume` once everything has been done that came in meanwhile. */
  nextTurn?: (resume: () => void) => void;
}

/** Does the work at once; what it throws rejects the promise. */
const attempt = async <T>(work: () => T) => work();

/**
 * The turns of all work at the event loop of a process. Work for requests is done at once while none waits, in slices of 2 ms
 * between which others come in; what waits is done in the order of what workspaces and keys have used. Background work takes
 * what is left.
 */
export class Turns {
  /** Knows the work that each workspace and key has used. The places that requests wait for take turns by it too. */
  readonly order: Order;
  readonly #options: Required<TurnsOptions>;
  readonly #waiting: FairQueue<Piece>;
  readonly #refusals = new Map<RefusalReason, ApiError>();
  readonly #background: (() => void)[] = [];
  /** The rest of the slice of this turn of the event loop. */
  #left_ms = SLICE_MS;
  /** When it goes on with what waits. */
  #due_ms = Number.POSITIVE_INFINITY;
  #background_began_ms = Number.NEGATIVE_INFINITY;
  /** When background work has rested for what its last slice took. */
  #rested_ms = Number.NEGATIVE_INFINITY;
  #background_due_ms = Number.POSITIVE_INFINITY;
  /** The pieces of background work that the database is at. */
  #pieces = 0;
  /** When what they have read is paid. */
  #paid_ms = Number.NEGATIVE_INFINITY;

  constructor({ now_ms, after = (ms, resume) => void setTimeout(resume, ms), nextTurn }: TurnsOptions) {
    this.#options = { now_ms, after, nextTurn: nextTurn ?? setImmediate };
    this.order = new Order({ now_ms });
    this.#waiting = new FairQueue(this.order);
  }

  /**
   * Does work for a request in its turn: at once, and then without a promise, where none waits and the slice has room. Throws
   * `unavailable` with `reason` where too many wait, and rejects with it at its turn what has waited for 2.5 s. Errors of the
   * work are thrown, or reject the promise.
   */
  spend<T>(holder: Holder, reason: RefusalReason, work: () => Priced<T>): T | Promise<T> {
    const pause_ms = this.order.pauseOf(holder);
    const is_turn = this.#left_ms > 0 && (this.#waiting.isEmpty() || this.#due_ms > this.#options.now_ms());
    if (is_turn && pause_ms === 0) return this.#do(holder, work, false);
    const refusal = valueIn(this.#refusals, reason, () => overloaded(reason));
    const since_ms = this.#options.now_ms();
    return new Promise<T>((resolve, reject) => {
      const take = () => {
        if (this.#options.now_ms() - since_ms >= MAX_WAIT_MS) reject(refusal);
        else resolve(attempt(() => this.#do(holder, work, true)));
      };
      if (this.#waiting.add({ ...holder, take })) this.#goOnLater(pause_ms);
      else reject(refusal);
    });
  }

  /** Waits for the turn of work with this price, as `spend` does; the caller does it. */
  pass(holder: Holder, reason: RefusalReason, price: number): void | Promise<void> {
    return this.spend(holder, reason, () => ({ result: undefined, price }));
  }

  /** Counts a request that somebody waits for until the returned function is called, once. */
  enter(holder: Holder): () => void {
    const leave = this.order.enter(holder);
    return () => {
      leave();
      if (this.#background.length > 0) this.#goOnBehindLater();
    };
  }

  /**
   * Does background work: in slices of 2 ms, one after the other, while nobody has waited for a request for 10 ms, and otherwise
   * of 0.5 ms for a 25th of the time, but at least every 50 ms. Tasks take turns, owe nothing and are never refused.
   */
  background<T>(work: () => T): T | Promise<T> {
    if (this.#background.length === 0 && this.#hasRoomBehind()) return work();
    return new Promise<T>((resolve) => {
      this.#background.push(() => resolve(attempt(work)));
      this.#goOnBehindLater();
    });
  }

  /** Lets everything else come in where a slice of background work is over. */
  readonly pause = (): void | Promise<void> => this.background(() => {});

  /**
   * Does a piece of background work that is mostly the database's, in a turn as `background` gives it. While somebody waits for a
   * request one piece is done at a time, and no other background work until three times its price has passed after its end. So a
   * piece must not wait for background work itself.
   */
  readonly aside: BackgroundTurns['aside'] = async (work, readBy) => {
    await this.background(() => this.#pieces++);
    try {
      const result = await work();
      const paid_ms = this.#options.now_ms() + REST * ofRead(readBy(result));
      this.#paid_ms = Math.max(this.#paid_ms, paid_ms);
      return result;
    } finally {
      this.#pieces -= 1;
      this.#goOnBehindLater();
    }
  };

  #do<T>(holder: Holder, work: () => Priced<T>, has_waited: boolean): T {
    this.#goOnLater(0);
    const { result, price } = work();
    this.order.begin(holder, price, has_waited);
    this.#left_ms -= price;
    return result;
  }

  #goOnLater(wait_ms: number): void {
    const { now_ms, after, nextTurn } = this.#options;
    const due_ms = now_ms() + wait_ms;
    if (due_ms >= this.#due_ms) return;
    this.#due_ms = due_ms;
    if (wait_ms === 0) nextTurn(this.#goOn);
    // Another one may be due earlier by then.
    else after(Math.ceil(wait_ms), () => this.#due_ms === due_ms && this.#goOn());
  }

  readonly #goOn = () => {
    this.#due_ms = Number.POSITIVE_INFINITY;
    this.#left_ms = SLICE_MS;
    let pause_ms = Number.POSITIVE_INFINITY;
    const mayBegin = (piece: Piece) => {
      const pause = this.order.pauseOf(piece);
      if (pause === 0) return true;
      pause_ms = Math.min(pause_ms, pause);
      return false;
    };
    while (this.#left_ms > 0) {
      const piece = this.#waiting.next(mayBegin);
      if (piece === undefined) break;
      piece.take();
    }
    if (!this.#waiting.isEmpty()) this.#goOnLater(this.#left_ms > 0 ? pause_ms : 0);
  };

  #hasRoomBehind(): boolean {
    const now_ms = this.#options.now_ms();
    const slice_ms = now_ms < this.order.quietAt(QUIET_MS) ? SLICE_BESIDE_MS : SLICE_MS;
    return now_ms - this.#background_began_ms < slice_ms && now_ms >= this.#beginsBehindAt();
  }

  #goOnBehindLater(): void {
    const { now_ms, after, nextTurn } = this.#options;
    const wait_ms = Math.max(0, this.#beginsBehindAt() - now_ms());
    const due_ms = now_ms() + wait_ms;
    // Where that is never, it goes on at the end of a piece, or when nobody waits for a request any more.
    if (due_ms >= this.#background_due_ms) return;
    this.#background_due_ms = due_ms;
    if (wait_ms === 0) nextTurn(this.#goOnBehind);
    else after(Math.ceil(wait_ms), () => this.#background_due_ms === due_ms && this.#goOnBehind());
  }

  /** When background work may begin its next slice, or go on with one. */
  #beginsBehindAt(): number {
    const paid_ms = this.#pieces > 0 ? Number.POSITIVE_INFINITY : this.#paid_ms;
    return Math.min(Math.max(this.#rested_ms, paid_ms), this.order.quietAt(QUIET_MS));
  }

  readonly #goOnBehind = () => {
    const { now_ms } = this.#options;
    const began_ms = now_ms();
    this.#background_due_ms = Number.POSITIVE_INFINITY;
    if (!this.#hasRoomBehind() && began_ms >= this.#beginsBehindAt()) {
      this.#background_began_ms = began_ms;
      const rest = () => {
        this.#rested_ms = began_ms + Math.min((now_ms() - began_ms) * BACKGROUND_EVERY, MAX_REST_MS);
      };
      // Last of all that the slice does, also behind an `await`.
      queueMicrotask(() => process.nextTick(rest));
    }
    while (this.#background.length > 0 && this.#hasRoomBehind()) this.#background.shift()?.();
    if (this.#background.length > 0) this.#goOnBehindLater();
  };
}
