import { valueIn } from '@purser/rules/values/maps';

/** A workspace and one of its keys or sessions, for which something is asked. Without a key, the client address is both. */
export interface Holder {
  workspace_id: string;
  key_id: string;
}

export interface OrderOptions {
  /** Those that may wait; one more is refused. */
  max_waiting?: { of_workspace: number; of_all: number };
  /** Milliseconds of a clock that never runs backwards. */
  now_ms?: () => number;
}

const MAX_WAITING = { of_workspace: 400, of_all: 2_000 };
/** One that uses less than others saves up no more than this. */
const CREDIT = 20;
/** Differences below this are none. */
const SLICE = 2;
/** Beside one who has used less, the turns of a workspace leave three times their price free. */
const PACE = 0.25;
/** The time in which a workspace counts as being there after a request came that somebody waits for, or was answered, ms. */
const PRESENT_MS = 1_000;
/** When there are more workspaces, or keys of one, than this, those that neither wait nor have requests are forgotten. */
const MAX_PARTS = 10_000;

/** The work that one has used, and its parts: the workspaces of the process, the keys of a workspace. */
class Account {
  used = 0;
  waiting = 0;
  requests = 0;
  /** When the time that its turns leave free is over. */
  free_ms = 0;
  left_ms = Number.NEGATIVE_INFINITY;
  /** The work that the part has used that has used most. */
  #most = 0;
  readonly #parts = new Map<string, Account>();

  part(name: string): Account {
    if (this.#parts.size > MAX_PARTS) {
      for (const [each, { waiting, requests }] of this.#parts)
        if (waiting + requests === 0) this.#parts.delete(each);
    }
    return valueIn(this.#parts, name, () => new Account());
  }

  arrive(part: Account): void {
    if (part.waiting === 0) part.used = Math.max(part.used, this.#most - CREDIT);
  }

  isBehind(part: Account): boolean {
    return part.used < this.#most - SLICE;
  }

  charge(part: Account, price: number): void {
    part.used += price;
    this.#most = Math.max(this.#most, part.used);
  }
}

/**
 * The work that each workspace, and each of its keys, has used of the process, by start-time fair queueing (Goyal, Vin and Cheng,
 * 1996). All queues of an order take turns by it: next is who has used least. Who is alone uses all, and owes nothing for it.
 */
export class Order {
  readonly #max_waiting: { of_workspace: number; of_all: number };
  readonly #now_ms: () => number;
  readonly #all = new Account();
  /** When a workspace that has used less than others was there. */
  #behind_ms = Number.NEGATIVE_INFINITY;

  constructor({ max_waiting = MAX_WAITING, now_ms = () => performance.now() }: OrderOptions = {}) {
    this.#max_waiting = max_waiting;
    this.#now_ms = now_ms;
  }

  /** Counts a request in progress until the returned function is called, once. */
  enter({ workspace_id }: Holder): () => void {
    const workspace = this.#all.part(workspace_id);
    this.#all.arrive(workspace);
    this.#note(workspace);
    for (const each of [this.#all, workspace]) each.requests += 1;
    return () => {
      this.#note(workspace);
      for (const each of [this.#all, workspace]) each.requests -= 1;
      this.#all.left_ms = this.#now_ms();
    };
  }

  /** When nobody will have waited for a request for `ms`; Infinity while somebody does. */
  quietAt(ms: number): number {
    return this.#all.requests === 0 ? this.#all.left_ms + ms : Number.POSITIVE_INFINITY;
  }

  /** Counts a turn that begins, of one that has just arrived or has waited. */
  begin(holder: Holder, price: number, has_waited: boolean): void {
    const { workspace, key } = this.of(holder);
    if (!has_waited) this.#arrive(workspace, key);
    this.charge(holder, price);
  }

  /** Adds to the price of a turn that has begun. */
  charge(holder: Holder, price: number): void {
    const { workspace, key } = this.of(holder);
    const now_ms = this.#now_ms();
    workspace.free_ms = this.leavesTime(holder) ? Math.max(now_ms, workspace.free_ms) + price / PACE : now_ms;
    this.#all.charge(workspace, price);
    workspace.charge(key, price);
  }

  /** How long a workspace leaves the time to others, ms: until what passed is four times the price of its turns; 0 if it need not. */
  pauseOf(holder: Holder): number {
    const { free_ms } = this.#all.part(holder.workspace_id);
    return this.leavesTime(holder) ? Math.max(0, free_ms - SLICE / PACE - this.#now_ms()) : 0;
  }

  /** Returns true if a workspace leaves time to others, since one is there that has used less than it and the others. */
  leavesTime({ workspace_id }: Holder): boolean {
    const is_other_there = this.#now_ms() - this.#behind_ms <= PRESENT_MS;
    return is_other_there && !this.#all.isBehind(this.#all.part(workspace_id));
  }

  #note(workspace: Account): void {
    if (this.#all.isBehind(workspace)) this.#behind_ms = this.#now_ms();
  }

  /** Counts one that begins to wait, and returns true; false if too many wait already. */
  wait(holder: Holder): boolean {
    const { workspace, key } = this.of(holder);
    const { of_workspace, of_all } = this.#max_waiting;
    if (this.#all.waiting >= of_all || workspace.waiting >= of_workspace) return false;
    this.#arrive(workspace, key);
    for (const each of [this.#all, workspace, key]) each.waiting += 1;
    return true;
  }

  /** Counts one that waits no longer. */
  leave(holder: Holder): void {
    const { workspace, key } = this.of(holder);
    for (const each of [this.#all, workspace, key]) each.waiting -= 1;
  }

  /** Returns what is known of the workspace and of the key; while they wait or have requests it stays the same. */
  of({ workspace_id, key_id }: Holder): { workspace: Account; key: Account } {
    const workspace = this.#all.part(workspace_id);
    return { workspace, key: workspace.part(key_id) };
  }

  #arrive(workspace: Account, key: Account): void {
    this.#all.arrive(workspace);
    workspace.arrive(key);
  }
}

/** Those who wait for one thing. Next is, of the workspaces, the one that has used least, and of its keys the one that has. */
export class FairQueue<Waiter extends Holder> {
  readonly #order: Order;
  /** By workspace and key, in the order of arrival. */
  readonly #waiting = new Map<Account, Map<Account, Set<Waiter>>>();

  constructor(order: Order) {
    this.#order = order;
  }

  isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Returns false, and adds nothing, if too many wait already. */
  add(waiter: Waiter): boolean {
    if (!this.#order.wait(waiter)) return false;
    const { workspace, key } = this.#order.of(waiter);
    const keys = valueIn(this.#waiting, workspace, () => new Map<Account, Set<Waiter>>());
    valueIn(keys, key, () => new Set()).add(waiter);
    return true;
  }

  /** Removes one that waits. */
  remove(waiter: Waiter): void {
    const { workspace, key } = this.#order.of(waiter);
    const keys = this.#waiting.get(workspace);
    const waiters = keys?.get(key);
    if (waiters?.delete(waiter) !== true) return;
    this.#order.leave(waiter);
    if (waiters.size === 0) keys?.delete(key);
    if (keys?.size === 0) this.#waiting.delete(workspace);
  }

  /** Removes and returns the next of those that `fits` accepts; undefined if it accepts none. */
  next(fits: (waiter: Waiter) => boolean = () => true): Waiter | undefined {
    let next: { waiter: Waiter; workspace: Account; key: Account } | undefined;
    for (const [workspace, keys] of this.#waiting) {
      if (next !== undefined && workspace.used >= next.workspace.used) continue;
      for (const [key, waiters] of keys) {
        if (workspace === next?.workspace && key.used >= next.key.used) continue;
        const [waiter] = waiters as ReadonlySet<Waiter> & Iterable<Waiter>;
        if (waiter !== undefined && fits(waiter)) next = { waiter, workspace, key };
      }
    }
    if (next !== undefined) this.remove(next.waiter);
    return next?.waiter;
  }
}
