import { ApiError, overloaded, type RefusalReason } from '@purser/rules/errors';

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

/** A resource that the requests of all tenants share and that no tenant can take away from the others. */
export interface Shares {
  readonly resource: RefusalReason;
  readonly total: number;
  /** The refusal for callers of `tryTake` that got null. */
  readonly refusal: ApiError;
  /** Returns how much of it is held now. */
  inUse(): number;
  /** Takes `amount` (default 1) at once. Returns null if it is not free or would exceed the holder's share. */
  tryTake(holder: Holder, amount?: number): Release | null;
  /**
   * Takes one, and waits for it if necessary. Workspaces take turns, and so do the keys of a workspace. Throws
   * `unavailable` if too many calls wait already or the wait took too long, and the signal's reason if the signal is
   * aborted first.
   */
  take(holder: Holder, signal?: AbortSignal): Promise<Release>;
  /** Takes one, does `work`, and releases it however the work ends. Throws what `take` and `work` throw. */
  run<T>(holder: Holder, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
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
 * Makes the resource. The share of each holder depends on what is free, by the dynamic thresholds of network switches
 * with shared buffers: a holder may take more while it holds less than a fixed multiple of what is free. A single
 * holder gets its whole share. Several holders of equal demand converge to equal parts, and something stays free for a
 * new one. Taking and releasing cost the same however many holders there are. A turn looks at each waiting workspace at
 * most once.
 */
export function makeShares(options: SharesOptions): Shares {
  const { resource, total, workspace_share = DEFAULT_SHARE, max_wait_ms = DEFAULT_WAIT_MS } = options;
  const isAlone = options.isAlone ?? (() => false);
  const workspace_multiple = multipleOf(workspace_share);
  const key_multiple = multipleOf(options.key_share ?? workspace_share);
  const of_workspaces = new Map<string, number>();
  const of_keys = new Map<string, number>();
  let in_use = 0;
  const { max_waiting = 0 } = options;
  const places_to_wait =
    max_waiting === 0
      ? null
      : makeShares({
          resource,
          total: max_waiting,
          workspace_share,
          key_share: options.key_share ?? workspace_share,
          isAlone,
        });
  /** The waiting calls by workspace, then by key, both in the order of their turns. */
  const waiting = new Map<string, Map<string, Set<Waiter>>>();

  function fits({ workspace_id, key_id }: Holder, amount: number): boolean {
    const free = total - in_use;
    const isWithin = (held: number, multiple: number) =>
      held === 0 || held + amount <= multiple * free + ROUNDING;
    if (amount > free) return false;
    return (
      isAlone(workspace_id) ||
      (isWithin(of_workspaces.get(workspace_id) ?? 0, workspace_multiple) &&
        isWithin(of_keys.get(key_id) ?? 0, key_multiple))
    );
  }

  function hold({ workspace_id, key_id }: Holder, amount: number): Release {
    in_use += amount;
    add(of_workspaces, workspace_id, amount);
    add(of_keys, key_id, amount);
    let is_held = true;
    return () => {
      if (!is_held) return;
      is_held = false;
      in_use -= amount;
      add(of_workspaces, workspace_id, -amount);
      add(of_keys, key_id, -amount);
      if (waiting.size > 0) grantTurns();
    };
  }

  /** A workspace and a key that got a turn go to the end of their queues, where this loop meets them again. */
  function grantTurns(): void {
    for (const [workspace_id, keys] of waiting) {
      for (const [key_id, waiters] of keys) {
        if (in_use >= total) return;
        const waiter = waiters.values().next().value as Waiter;
        if (!fits(waiter, 1)) continue;
        waiters.delete(waiter);
        keys.delete(key_id);
        if (waiters.size > 0) keys.set(key_id, waiters);
        waiting.delete(workspace_id);
        if (keys.size > 0) waiting.set(workspace_id, keys);
        waiter.grant(hold(waiter, 1));
        break;
      }
    }
  }

  function enqueue(waiter: Waiter): void {
    const keys = waiting.get(waiter.workspace_id) ?? new Map<string, Set<Waiter>>();
    const waiters = keys.get(waiter.key_id) ?? new Set<Waiter>();
    waiting.set(waiter.workspace_id, keys.set(waiter.key_id, waiters.add(waiter)));
  }

  function leave({ workspace_id, key_id }: Holder, waiter: Waiter): void {
    const keys = waiting.get(workspace_id);
    const waiters = keys?.get(key_id);
    waiters?.delete(waiter);
    if (waiters?.size === 0) keys?.delete(key_id);
    if (keys?.size === 0) waiting.delete(workspace_id);
  }

  const busy = () =>
    new ApiError(
      'unavailable',
      `Too many ${resource.replaceAll('_', ' ')} are in progress; nothing was carried out; retry.`,
      { retry_after_s: RETRY_AFTER_S, is_overload: true, reason: resource },
    );

  function tryTake(holder: Holder, amount = 1): Release | null {
    return fits(holder, amount) ? hold(holder, amount) : null;
  }

  async function take(holder: Holder, signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    const release = tryTake(holder);
    if (release !== null) return release;
    const leavePlace = places_to_wait?.tryTake(holder) ?? null;
    if (leavePlace === null) throw busy();
    let timer: NodeJS.Timeout | undefined;
    let onAbort = () => {};
    const { workspace_id, key_id } = holder;
    try {
      return await new Promise<Release>((grant, reject) => {
        const waiter: Waiter = { workspace_id, key_id, grant };
        const giveUp = (reason: unknown) => {
          leave(holder, waiter);
          reject(reason);
        };
        timer = setTimeout(() => giveUp(busy()), max_wait_ms);
        onAbort = () => giveUp(signal?.reason);
        signal?.addEventListener('abort', onAbort);
        enqueue(waiter);
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      leavePlace();
    }
  }

  return {
    resource,
    total,
    refusal: overloaded(resource),
    inUse: () => in_use,
    tryTake,
    take,
    async run(holder, work, signal) {
      const release = await take(holder, signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
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
