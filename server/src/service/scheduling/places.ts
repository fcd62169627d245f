import { ApiError, overloaded, type RefusalReason } from '@purser/rules/errors';
import { FairQueue, type Holder, Order } from './fair-queue.ts';
import { TURN } from './prices.ts';
import { MAX_WAIT_MS } from './turns.ts';

/** Gives back what was taken. Only the first call has an effect. */
export type Release = () => void;

export interface PlacesOptions {
  /** The name of the resource, in the plural, for metrics, the log and error messages. */
  resource: RefusalReason;
  /** How much of the resource there is, in any unit. */
  total: number;
  /**
   * The fraction (0 to 1) that one workspace gets while nobody else holds any, of a resource that may be kept for long.
   * Default: all of it, since others soon have their turns; but one at a time where the order says that it leaves time to others,
   * because several at once would fill the cores between those times.
   */
  share?: number;
  /** The same for one key. Default: the workspace's. */
  key_share?: number;
  /** The order in which those who wait take turns. Default: one of its own. */
  order?: Order;
  /** The price of a turn in that order. */
  price?: number;
  /** The longest wait, ms; then it is refused. */
  max_wait_ms?: number;
}

interface Waiter extends Holder {
  grant: (release: Release) => void;
}

/** Tolerance, because shares are fractions: an amount exactly at a threshold must not be refused by a rounding error. */
const ROUNDING = 1e-9;

/**
 * A bounded resource. Who gets what becomes free is the next in the order. What may be kept for long has a dynamic threshold
 * besides, as in network switches with shared buffers: a holder may take more while it holds less than a fixed multiple of
 * what is free. So a single holder gets its whole share, several converge to equal parts, and something stays free for a new
 * one.
 */
export class Places {
  readonly resource: RefusalReason;
  readonly total: number;
  /** The refusal for callers of `tryTake` that got null. */
  readonly refusal: ApiError;
  readonly #busy: ApiError;
  readonly #order: Order;
  readonly #price: number;
  readonly #max_wait_ms: number;
  readonly #is_short: boolean;
  readonly #multiples: { workspace: number; key: number };
  readonly #held = { workspaces: new Map<string, number>(), keys: new Map<string, number>() };
  readonly #waiting: FairQueue<Waiter>;
  #in_use = 0;

  constructor(options: PlacesOptions) {
    const { resource, total, share = 1, key_share = share, order = new Order(), price = TURN } = options;
    this.resource = resource;
    this.total = total;
    this.refusal = overloaded(resource);
    this.#busy = new ApiError(
      'unavailable',
      `Too many ${resource.replaceAll('_', ' ')} are in progress; nothing was carried out; retry.`,
      { retry_after_s: 1, is_overload: true, reason: resource },
    );
    this.#order = order;
    this.#price = price;
    this.#max_wait_ms = options.max_wait_ms ?? MAX_WAIT_MS;
    this.#is_short = share === 1;
    this.#multiples = { workspace: share / (1 - share), key: key_share / (1 - key_share) };
    this.#waiting = new FairQueue(order);
  }

  /** Returns how much of it is held now. */
  readonly inUse = (): number => this.#in_use;

  /** Takes `amount` (default 1) at once. Returns null if it is not free or would exceed the holder's share. */
  tryTake(holder: Holder, amount = 1): Release | null {
    return this.#fits(holder, amount) ? this.#hold(holder, amount) : null;
  }

  /**
   * Takes one, and waits for it if necessary. Throws `unavailable` if too many wait already or the wait took too long, and the
   * signal's reason if the signal is aborted first.
   */
  async take(holder: Holder, signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    const release = this.tryTake(holder);
    if (release === null) return this.#wait(holder, signal);
    this.#order.begin(holder, this.#price, false);
    return release;
  }

  /** Takes one, does `work`, and releases it however the work ends. Throws what `take` and `work` throw. */
  async run<T>(holder: Holder, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const release = await this.take(holder, signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  async #wait({ workspace_id, key_id }: Holder, signal: AbortSignal | undefined): Promise<Release> {
    let timer: NodeJS.Timeout | undefined;
    let onAbort = () => {};
    try {
      return await new Promise<Release>((grant, reject) => {
        const waiter: Waiter = { workspace_id, key_id, grant };
        if (!this.#waiting.add(waiter)) return reject(this.#busy);
        const giveUp = (reason: unknown) => {
          this.#waiting.remove(waiter);
          reject(reason);
        };
        // Others may hold all of it for longer, so its turn may not come before.
        timer = setTimeout(() => giveUp(this.#busy), this.#max_wait_ms);
        onAbort = () => giveUp(signal?.reason);
        signal?.addEventListener('abort', onAbort);
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #fits(holder: Holder, amount: number): boolean {
    const free = this.total - this.#in_use;
    const isWithin = (held: number, multiple: number) =>
      held === 0 || held + amount <= multiple * free + ROUNDING;
    const of_workspace = this.#held.workspaces.get(holder.workspace_id) ?? 0;
    if (amount > free) return false;
    if (of_workspace > 0 && this.#is_short && this.#order.leavesTime(holder)) return false;
    return (
      isWithin(of_workspace, this.#multiples.workspace) &&
      isWithin(this.#held.keys.get(holder.key_id) ?? 0, this.#multiples.key)
    );
  }

  #hold(holder: Holder, amount: number): Release {
    this.#count(holder, amount);
    let is_held = true;
    return () => {
      if (!is_held) return;
      is_held = false;
      this.#count(holder, -amount);
      this.#grantTurns();
    };
  }

  #grantTurns(): void {
    while (this.#in_use < this.total && !this.#waiting.isEmpty()) {
      const next = this.#waiting.next((waiter) => this.#fits(waiter, 1));
      if (next === undefined) return;
      this.#order.begin(next, this.#price, true);
      next.grant(this.#hold(next, 1));
    }
  }

  #count({ workspace_id, key_id }: Holder, amount: number): void {
    this.#in_use += amount;
    add(this.#held.workspaces, workspace_id, amount);
    add(this.#held.keys, key_id, amount);
  }
}

function add(counts: Map<string, number>, name: string, amount: number): void {
  const count = (counts.get(name) ?? 0) + amount;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}
