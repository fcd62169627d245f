import { ApiError } from '@purser/rules/errors';
import { isUnavailable } from './database.ts';

export interface BatchLoaderOptions<Wanted, Found> {
  /** Requests with the same key are coalesced into one. */
  keyOf: (wanted: Wanted) => string;
  /** Loads a batch and returns what it found by key; missing keys were not found. */
  load: (wanted: readonly Wanted[]) => Promise<ReadonlyMap<string, Found>>;
  /** The largest number of keys in one batch. */
  max_batch: number;
  /** The largest number of distinct keys that may wait for a batch. */
  max_waiting: number;
  /** The number of batches that may be loading at a time; 1 when left out. */
  max_concurrent?: number;
  /** Called once for every failed batch. */
  onFailure?: (error: unknown) => void;
}

const tooManyWaiting = () =>
  new ApiError('unavailable', 'The service is overloaded; retry.', {
    retry_after_s: 1,
    reason: 'look_ups',
  });

interface PendingKey<Wanted, Found> {
  wanted: Wanted;
  answers: { resolve: (found: Found | undefined) => void; reject: (error: unknown) => void }[];
}

/**
 * Makes a function that loads one value and coalesces concurrent calls: a batch takes everything that was requested
 * while earlier batches were loading, so that thousands of requests a second cost some hundred statements, and a single
 * request waits for nothing. A value is always read after it was requested. If a batch fails for a reason other than
 * an unavailable database, its keys are loaded one by one, so that one bad row fails only its own request. Rejects
 * with the error of the load, or with `unavailable` when too many requests wait.
 */
export function makeBatchLoader<Wanted, Found>(
  options: BatchLoaderOptions<Wanted, Found>,
): (wanted: Wanted) => Promise<Found | undefined> {
  const { keyOf, load, max_batch, max_waiting, max_concurrent = 1, onFailure } = options;
  const waiting = new Map<string, PendingKey<Wanted, Found>>();
  let running = 0;

  async function loadBatch(batch: readonly [string, PendingKey<Wanted, Found>][]): Promise<void> {
    try {
      const found = await load(batch.map(([, { wanted }]) => wanted));
      for (const [key, { answers }] of batch) for (const one of answers) one.resolve(found.get(key));
    } catch (error) {
      onFailure?.(error);
      if (batch.length > 1 && !isUnavailable(error)) {
        for (const one of batch) await loadBatch([one]);
        return;
      }
      for (const [, { answers }] of batch) for (const one of answers) one.reject(error);
    }
  }

  async function loadWaiting(): Promise<void> {
    running += 1;
    while (waiting.size > 0) {
      const batch: [string, PendingKey<Wanted, Found>][] = [];
      for (const entry of waiting) {
        batch.push(entry);
        if (batch.length === max_batch) break;
      }
      for (const [key] of batch) waiting.delete(key);
      await loadBatch(batch);
    }
    running -= 1;
  }

  return (wanted) =>
    new Promise((resolve, reject) => {
      const key = keyOf(wanted);
      const pending = waiting.get(key);
      if (pending !== undefined) pending.answers.push({ resolve, reject });
      else if (waiting.size >= max_waiting) reject(tooManyWaiting());
      else waiting.set(key, { wanted, answers: [{ resolve, reject }] });
      if (running < max_concurrent) void loadWaiting();
    });
}

/** Makes a batch loader with separate batches for each workspace, so that no workspace waits for another. */
export function makeWorkspaceBatchLoader<Wanted, Found>(
  optionsOf: (workspace_id: string) => BatchLoaderOptions<Wanted, Found>,
): (workspace_id: string, wanted: Wanted) => Promise<Found | undefined> {
  const loaders = new Map<
    string,
    { load: (wanted: Wanted) => Promise<Found | undefined>; requests: number }
  >();
  return async (workspace_id, wanted) => {
    const loader = loaders.get(workspace_id) ?? {
      load: makeBatchLoader(optionsOf(workspace_id)),
      requests: 0,
    };
    loaders.set(workspace_id, loader);
    loader.requests += 1;
    try {
      return await loader.load(wanted);
    } finally {
      loader.requests -= 1;
      if (loader.requests === 0) loaders.delete(workspace_id);
    }
  };
}
