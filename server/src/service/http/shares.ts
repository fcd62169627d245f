import { ApiError, overloaded, type RefusalReason } from '@purser/rules/errors';
import { valueIn } from '@purser/rules/values/maps';

/** The holder of a share: a workspace and one of its keys. Where there is no key, any two ids serve. */
export interface Holder {
  workspace_id: string;
  key_id: string;
}

/** Releases what was taken. Only the first call has an effect. */
export type Release = () => void;

export interface SharesOptions {
  /** The name of the resource, in the plural, for metrics, the log and error messages. */
  resource: RefusalReason;
  /** How much of the resource there is, in any unit. */
  total: number;
  /** The fraction (0 to 1) that one workspace may hold while nobody else holds any. Default: half. */
  workspace_share?: number;
  /** The fraction that one key may hold while nobody else holds any. Default: the workspace's. */
  key_share?: number;
  /**
   * True if no other workspace is there: it may then hold everything, until others are. Default: others always are.
   */
  isAlone?: (workspace_id: string) => boolean;
  /** The most calls of `take` that wait. Each workspace and key has its share of them. Default: none. */
  max_waiting?: number;
  /** A call that has waited this long is refused, ms. */
  max_wait_ms?: number;
}

interface Waiter extends Holder {
  grant: (release: Release) => void;
}

const DEFAULT_SHARE = 0.5;
const DEFAULT_WAIT_MS = 5_000;
const RETRY_AFTER_S = 1;
/**
 * Tolerance, because shares are fractions: an amount exactly at a threshold must not be refused by a rounding error.
 */
const ROUNDING = 1e-9;

/**
 * A resource that the requests of all tenants share and that no tenant can take away from the others. The share of each
 * holder depends on what is free, by the dynamic thresholds of network switches with shared buffers: a holder may take more
 * while it holds less than a fixed multiple of what is free. A single holder gets its whole share. Several holders of equal
 * demand converge to equal parts, and something stays free for a new one. Taking and releasing cost the same however many
 * holders there are. A turn looks at each waiting workspace at most once.
 */
export class Shares {
  readonly resource: RefusalReason;
  readonly total: number;
  /** The refusal for callers of `tryTake` that got null. */
  readonly refusal: ApiError;
  readonly #isAlone: (workspace_id: string) => boolean;
  readonly #workspace_multiple: number;
  readonly #key_multiple: number;
  readonly #max_wait_ms: number;
  readonly #places_to_wait: Shares | null;
  readonly #of_workspaces = new Map<string, number>();
  readonly #of_keys = new Map<string, number>();
  readonly #waiting = new Waiting();
  #in_use = 0;

  constructor(options: SharesOptions) {
    const { resource, total, workspace_share = DEFAULT_SHARE, key_share = workspace_share } = options;
    const { isAlone = () => false, max_waiting = 0, max_wait_ms = DEFAULT_WAIT_MS } = options;
    this.resource = resource;
    this.total = total;
    this.refusal = overloaded(resource);
    this.#isAlone = isAlone;
    this.#workspace_multiple = multipleOf(workspace_share);
    this.#key_multiple = multipleOf(key_share);
    this.#max_wait_ms = max_wait_ms;
    const places = { resource, total: max_waiting, workspace_share, key_share, isAlone };
    this.#places_to_wait = max_waiting === 0 ? null : new Shares(places);
  }

  /** Returns how much of it is held now. */
  readonly inUse = (): number => this.#in_use;

  /** Takes `amount` (default 1) at once. Returns null if it is not free or would exceed the holder's share. */
  tryTake(holder: Holder, amount = 1): Release | null {
    return this.#fits(holder, amount) ? this.#hold(holder, amount) : null;
  }

  /**
   * Takes one, and waits for it if necessary. Workspaces take turns, and so do the keys of a workspace. Throws
   * `unavailable` if too many calls wait already or the wait took too long, and the signal's reason if the signal is
   * aborted first.
   */
  async take(holder: Holder, signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    const release = this.tryTake(holder);
    if (release !== null) return release;
    const leavePlace = this.#places_to_wait?.tryTake(holder) ?? null;
    if (leavePlace === null) throw this.#busy();
    try {
      return await this.#wait(holder, signal);
    } finally {
      leavePlace();
    }
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
        const giveUp = (reason: unknown) => {
          this.#waiting.remove(waiter);
          reject(reason);
        };
        timer = setTimeout(() => giveUp(this.#busy()), this.#max_wait_ms);
        onAbort = () => giveUp(signal?.reason);
        signal?.addEventListener('abort', onAbort);
        this.#waiting.add(waiter);
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #fits({ workspace_id, key_id }: Holder, amount: number): boolean {
    const free = this.total - this.#in_use;
    const isWithin = (held: number, multiple: number) =>
      held === 0 || held + amount <= multiple * free + ROUNDING;
    if (amount > free) return false;
    return (
      this.#isAlone(workspace_id) ||
      (isWithin(this.#of_workspaces.get(workspace_id) ?? 0, this.#workspace_multiple) &&
        isWithin(this.#of_keys.get(key_id) ?? 0, this.#key_multiple))
    );
  }

  readonly #tryGrant = (waiter: Waiter) => (this.#in_use >= this.total ? 'full' : this.tryTake(waiter));

  #hold(holder: Holder, amount: number): Release {
    this.#count(holder, amount);
    let is_held = true;
    return () => {
      if (!is_held) return;
      is_held = false;
      this.#count(holder, -amount);
      this.#waiting.grantTurns(this.#tryGrant);
    };
  }

  #count({ workspace_id, key_id }: Holder, amount: number): void {
    this.#in_use += amount;
    add(this.#of_workspaces, workspace_id, amount);
    add(this.#of_keys, key_id, amount);
  }

  #busy(): ApiError {
    return new ApiError(
      'unavailable',
      `Too many ${this.resource.replaceAll('_', ' ')} are in progress; nothing was carried out; retry.`,
      { retry_after_s: RETRY_AFTER_S, is_overload: true, reason: this.resource },
    );
  }
}

/** The waiting calls by workspace, then by key, both in the order of their turns. */
class Waiting {
  readonly #keys_of = new Map<string, Map<string, Set<Waiter>>>();

  add(waiter: Waiter): void {
    const keys = valueIn(this.#keys_of, waiter.workspace_id, () => new Map<string, Set<Waiter>>());
    valueIn(keys, waiter.key_id, () => new Set()).add(waiter);
  }

  remove(waiter: Waiter): void {
    const { workspace_id, key_id } = waiter;
    const keys = this.#keys_of.get(workspace_id);
    const waiters = keys?.get(key_id);
    waiters?.delete(waiter);
    if (waiters?.size === 0) keys?.delete(key_id);
    if (keys?.size === 0) this.#keys_of.delete(workspace_id);
  }

  /**
   * Grants turns to those for whom `tryTake` returns a release. Null: another one may fit; `full`: none does. A workspace and
   * a key that got a turn go to the end of their queues, where this loop meets them again.
   */
  grantTurns(tryTake: (waiter: Waiter) => Release | null | 'full'): void {
    for (const [workspace_id, keys] of this.#keys_of) {
      for (const [key_id, waiters] of keys) {
        const waiter = waiters.values().next().value as Waiter;
        const release = tryTake(waiter);
        if (release === 'full') return;
        if (release === null) continue;
        this.remove(waiter);
        moveToEnd(keys, key_id);
        moveToEnd(this.#keys_of, workspace_id);
        waiter.grant(release);
        break;
      }
    }
  }
}

function moveToEnd<V>(queue: Map<string, V>, name: string): void {
  const value = queue.get(name);
  if (value === undefined) return;
  queue.delete(name);
  queue.set(name, value);
}

/** Returns the multiple of what is free that a single holder holds when it stops at `share` of all. */
function multipleOf(share: number): number {
  return share / (1 - share);
}

function add(counts: Map<string, number>, name: string, amount: number): void {
  const count = (counts.get(name) ?? 0) + amount;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}
