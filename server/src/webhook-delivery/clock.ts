/** The database's time, as a worker knows it between two looks at it. */
export interface Clock {
  /** Whole ms since 1970. */
  now_ms(): number;
  /** Asks the database again when that was a while ago. */
  sync(): Promise<void>;
}

const KEPT_MS = 1_000;

/**
 * A clock set by `readClock` (the database's, ms) and carried on by `elapsed_ms`, which never runs backwards: what
 * the lane stamps and what a worker compares it with are then one time, whatever the machines' own clocks say.
 */
export function makeDatabaseClock(options: {
  readClock: () => Promise<number>;
  elapsed_ms: () => number;
}): Clock {
  let ahead_ms: number | null = null;
  let asked_at_ms = 0;
  return {
    now_ms() {
      if (ahead_ms === null) throw new Error('the clock was read before it was set');
      return Math.floor(options.elapsed_ms() + ahead_ms);
    },
    async sync() {
      if (ahead_ms !== null && options.elapsed_ms() - asked_at_ms < KEPT_MS) return;
      const clock_ms = await options.readClock();
      asked_at_ms = options.elapsed_ms();
      ahead_ms = clock_ms - asked_at_ms;
    },
  };
}
