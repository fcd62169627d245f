import { ApiError } from '../errors.ts';
import { isUnavailable } from './database.ts';

export interface BatchLoaderOptions<Wanted, Found> {
  /** Wishes of the same name are one. */
  keyOf: (wanted: Wanted) => string;
  /** Looks all of them up; what is left out was not found. */
  load: (wanted: readonly Wanted[]) => Promise<ReadonlyMap<string, Found>>;
  /** So many are looked up together, and so many may wait. */
  max_batch: number;
  max_waiting: number;
  /** Look-ups under way at a time; 1 when left out. */
  max_concurrent?: number;
  /** Told of every failed look-up, once. */
  onFailure?: (error: unknown) => void;
}

const tooManyWaiting = () =>
  new ApiError('unavailable', 'The service is overloaded; retry.', { retry_after_s: 1 });

interface PendingKey<Wanted, Found> {
  wanted: Wanted;
  answers: { resolve: (found: Found | undefined) => void; reject: (error: unknown) => void }[];
}

/**
 * Looks things up together: a look-up takes along everything that was asked for while others were under way, so that
 * thousands of requests a second cost some hundred statements, and a lone one waits for nothing. What is found was read
 * after it was asked for. Where one of them cannot be read, the others are looked up alone. Rejects with the error of
 * the look-up, or `unavailable` when too many wait.
 */
export function makeBatchLoader<Wanted, Found>(
  options: BatchLoaderOptions<Wanted, Found>,
): (wanted: Wanted) => Promise<Found | undefined> {
  const { keyOf, load, max_batch, max_waiting, max_concurrent = 1, onFailure } = options;
  const waiting = new Map<string, PendingKey<Wanted, Found>>();
  let under_way = 0;

  async function lookUp(batch: readonly [string, PendingKey<Wanted, Found>][]): Promise<void> {
    try {
      const found = await load(batch.map(([, { wanted }]) => wanted));
      for (const [name, { answers }] of batch) for (const one of answers) one.resolve(found.get(name));
    } catch (error) {
      onFailure?.(error);
      if (batch.length > 1 && !isUnavailable(error)) {
        for (const one of batch) await lookUp([one]);
        return;
      }
      for (const [, { answers }] of batch) for (const one of answers) one.reject(error);
    }
  }

  async function lookUpAll(): Promise<void> {
    under_way += 1;
    while (waiting.size > 0) {
      const batch: [string, PendingKey<Wanted, Found>][] = [];
      for (const entry of waiting) {
        batch.push(entry);
        if (batch.length === max_batch) break;
      }
      for (const [name] of batch) waiting.delete(name);
      await lookUp(batch);
    }
    under_way -= 1;
  }

  return (wanted) =>
    new Promise((resolve, reject) => {
      const name = keyOf(wanted);
      const wish = waiting.get(name);
      if (wish !== undefined) wish.answers.push({ resolve, reject });
      else if (waiting.size >= max_waiting) reject(tooManyWaiting());
      else waiting.set(name, { wanted, answers: [{ resolve, reject }] });
      if (under_way < max_concurrent) void lookUpAll();
    });
}

/** The same for each workspace by itself: none waits for what another asked for. */
export function makeWorkspaceBatchLoader<Wanted, Found>(
  optionsOf: (workspace_id: string) => BatchLoaderOptions<Wanted, Found>,
): (workspace_id: string, wanted: Wanted) => Promise<Found | undefined> {
  const gathers = new Map<
    string,
    { gather: (wanted: Wanted) => Promise<Found | undefined>; asked: number }
  >();
  return async (workspace_id, wanted) => {
    const known = gathers.get(workspace_id) ?? { gather: makeBatchLoader(optionsOf(workspace_id)), asked: 0 };
    gathers.set(workspace_id, known);
    known.asked += 1;
    try {
      return await known.gather(wanted);
    } finally {
      known.asked -= 1;
      if (known.asked === 0) gathers.delete(workspace_id);
    }
  };
}
