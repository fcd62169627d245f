import { ApiError } from '../errors.ts';

/** Whoever takes something: a workspace, and one of its keys. Any two ids do where there is no key. */
export interface Holder {
  workspace_id: string;
  key_id: string;
}

/** Gives back what was taken. Only the first call has an effect. */
export type Release = () => void;

export interface SharesOptions {
  /** What it is that is shared, in the plural: for the metrics, and for the words of a refusal. */
  resource: string;
  /** How much of it there is, in any unit. */
  total: number;
  /** The part of all (0 to 1) that one workspace may hold while nobody else holds any. Default: half. */
  workspace_share?: number;
  /** The part of all that one key may hold while nobody else holds any. Default: as for a workspace. */
  key_share?: number;
  /** How many may wait for a turn in `take`, each workspace and key its share of them. Default: nobody waits. */
  max_waiting?: number;
  /** How long they wait before they are refused, ms. */
  max_wait_ms?: number;
}

/** Something that the requests of all tenants share, and that none of them can take from the others. */
export interface Shares {
  readonly resource: string;
  readonly total: number;
  /** How much of it is held now. */
  inUse(): number;
  /** Takes `amount` (default 1) of it at once; null: it is not free, or would be more than the holder's share. */
  tryTake(holder: Holder, amount?: number): Release | null;
  /**
   * Takes one of it, after a wait where that is needed: workspaces have their turns one after another, and so have the
   * keys of each. Throws `unavailable` when too many wait already or the wait was too long, and the signal's reason
   * when that is aborted first.
   */
  take(holder: Holder, signal?: AbortSignal): Promise<Release>;
  /** Does `work` with one of it, which is given back however the work ends. Throws as `take` and `work` do. */
  run<T>(holder: Holder, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

interface Waiter extends Holder {
  grant: (release: Release) => void;
}

const DEFAULT_SHARE = 0.5;
const DEFAULT_WAIT_MS = 5_000;
const RETRY_AFTER_S = 1;
/** Shares are fractions: what is exactly at a threshold must not fall out by a rounding error. */
const ROUNDING = 1e-9;

/**
 * Makes it. The share of each holder follows what is left, as the shared buffers of network switches do it (dynamic
 * thresholds): a holder may take more while it holds less than a fixed multiple of what is free. Alone it gets to its
 * share. With others of equal demand it comes to an equal part as what it holds too much of ends, and something is
 * then left free for who holds nothing yet.
 * Taking and giving back cost the same however many hold some of it; a turn looks at most at each workspace that waits.
 */
export function makeShares(options: SharesOptions): Shares {
  const { resource, total, workspace_share = DEFAULT_SHARE, max_wait_ms = DEFAULT_WAIT_MS } = options;
  const workspace_multiple = multipleOf(workspace_share);
  const key_multiple = multipleOf(options.key_share ?? workspace_share);
  const of_workspaces = new Map<string, number>();
  const of_keys = new Map<string, number>();
  let in_use = 0;
  const { max_waiting = 0 } = options;
  const places_to_wait =
    max_waiting === 0 ? null : makeShares({ resource, total: max_waiting, workspace_share });
  /** By workspace, then by key; both in the order of their turns. */
  const waiting = new Map<string, Map<string, Set<Waiter>>>();

  function fits({ workspace_id, key_id }: Holder, amount: number): boolean {
    const free = total - in_use;
    const isWithin = (held: number, multiple: number) =>
      held === 0 || held + amount <= multiple * free + ROUNDING;
    return (
      amount <= free &&
      isWithin(of_workspaces.get(workspace_id) ?? 0, workspace_multiple) &&
      isWithin(of_keys.get(key_id) ?? 0, key_multiple)
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

  /** Whoever gets a turn goes to the end of both rings, where this loop meets it again. */
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
    new ApiError('unavailable', `Too many ${resource} are under way; nothing was carried out; retry.`, {
      retry_after_s: RETRY_AFTER_S,
      is_overload: true,
    });

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

/** A holder that stops at `share` of all holds this many times what is then left. */
function multipleOf(share: number): number {
  return share / (1 - share);
}

function add(counts: Map<string, number>, name: string, amount: number): void {
  const count = (counts.get(name) ?? 0) + amount;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}
