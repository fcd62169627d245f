import { ApiError } from '../errors.ts';
import { isUnavailable } from './database.ts';

export interface GatherOptions<Wanted, Found> {
  /** Wishes of the same name are one. */
  nameOf: (wanted: Wanted) => string;
  /** Looks all of them up; what is left out was not found. */
  load: (wanted: readonly Wanted[]) => Promise<ReadonlyMap<string, Found>>;
  /** So many are looked up together, and so many may wait. */
  at_once: number;
  most_waiting: number;
  /** Look-ups under way at a time; 1 when left out. */
  look_ups?: number;
  /** Told of every failed look-up, once. */
  onFailure?: (error: unknown) => void;
}

const tooManyWaiting = () =>
  new ApiError('unavailable', 'The service is overloaded; retry.', { retry_after_s: 1 });

interface Wish<Wanted, Found> {
  wanted: Wanted;
  answers: { resolve: (found: Found | undefined) => void; reject: (error: unknown) => void }[];
}

/**
 * Looks things up together: a look-up takes along everything that was asked for while others were under way, so that
 * thousands of requests a second cost some hundred statements, and a lone one waits for nothing. What is found was read
 * after it was asked for. Where one of them cannot be read, the others are looked up alone. Rejects with the error of
 * the look-up, or `unavailable` when too many wait.
 */
export function makeGather<Wanted, Found>(
  options: GatherOptions<Wanted, Found>,
): (wanted: Wanted) => Promise<Found | undefined> {
  const { nameOf, load, at_once, most_waiting, look_ups = 1, onFailure } = options;
  const waiting = new Map<string, Wish<Wanted, Found>>();
  let under_way = 0;

  async function lookUp(batch: readonly [string, Wish<Wanted, Found>][]): Promise<void> {
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
      const batch: [string, Wish<Wanted, Found>][] = [];
      for (const entry of waiting) {
        batch.push(entry);
        if (batch.length === at_once) break;
      }
      for (const [name] of batch) waiting.delete(name);
      await lookUp(batch);
    }
    under_way -= 1;
  }

  return (wanted) =>
    new Promise((resolve, reject) => {
      const name = nameOf(wanted);
      const wish = waiting.get(name);
      if (wish !== undefined) wish.answers.push({ resolve, reject });
      else if (waiting.size >= most_waiting) reject(tooManyWaiting());
      else waiting.set(name, { wanted, answers: [{ resolve, reject }] });
      if (under_way < look_ups) void lookUpAll();
    });
}

/** The same for each workspace by itself: none waits for what another asked for. */
export function makeGatherByWorkspace<Wanted, Found>(
  optionsOf: (workspace_id: string) => GatherOptions<Wanted, Found>,
): (workspace_id: string, wanted: Wanted) => Promise<Found | undefined> {
  const gathers = new Map<
    string,
    { gather: (wanted: Wanted) => Promise<Found | undefined>; asked: number }
  >();
  return async (workspace_id, wanted) => {
    const known = gathers.get(workspace_id) ?? { gather: makeGather(optionsOf(workspace_id)), asked: 0 };
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
