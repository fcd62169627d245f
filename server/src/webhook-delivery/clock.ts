/** The database's clock, continued by a worker between two reads of it. */
export interface Clock {
  /** Returns whole ms since 1970. */
  now_ms(): number;
  /** Reads the database's clock again if the last time was a while ago. */
  sync(): Promise<void>;
}

const KEPT_MS = 1_000;

/**
 * Makes a clock that is set by `readClock` (the database's clock, ms) and continued by `elapsed_ms`, which never runs
 * backwards. So the lane and the workers use the same time, whatever the clocks of their machines say.
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
