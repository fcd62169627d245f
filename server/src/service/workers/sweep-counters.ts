import type { Queryable } from '../../engine/storage/database.ts';
import { sweepCounters } from '../../engine/storage/derived/counters.ts';

const SLOTS_AT_ONCE = 1_000;
/** So that one round ends. */
const MAX_PAGES = 100;

/** Removes slots of counters that count no more since a day, a page at a time. Any number of nodes may do so at once. */
export async function sweepOldCounters(db: Queryable): Promise<void> {
  for (let page = 0; page < MAX_PAGES; page++) {
    if ((await sweepCounters(db, SLOTS_AT_ONCE)) < SLOTS_AT_ONCE) return;
  }
}
