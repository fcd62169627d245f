import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';

/** How often a transaction whose tables others hold is tried, and the pause between the tries. */
export interface LockTries {
  tries: number;
  pause_ms: number;
}

/** Other transactions did not release the tables in time. */
export class TablesHeld extends Error {
  override name = 'TablesHeld';
}

/** Lock not available, deadlock, serialization failure: a retry may succeed. */
const TRY_AGAIN = new Set(['55P03', '40P01', '40001']);

/** Returns whether a transaction failed because others hold its tables. */
export function isHeld(error: unknown): boolean {
  return (
    error instanceof TablesHeld || (error instanceof pg.DatabaseError && TRY_AGAIN.has(error.code ?? ''))
  );
}

/**
 * Runs `work`, a whole transaction that undoes itself when it fails, until others do not hold its tables; `tried` counts from 1.
 * Throws its last failure when patience ends, and any other failure at once.
 */
export async function whileHeld<T>(
  { tries, pause_ms }: LockTries,
  work: (tried: number) => Promise<T>,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await work(tried);
    } catch (error) {
      if (!isHeld(error) || tried >= tries) throw error;
    }
    await wait(pause_ms);
  }
}
