import type { ClockWatch } from '../../engine/clock-watch.ts';

/** The database's clock, continued by a worker between two reads of it. */
export interface Clock {
  /** Returns whole ms since 1970. */
  now_ms(): number;
  /** Reads the database's clock again if the last time was a while ago. */
  sync(): Promise<void>;
}

const KEPT_MS = 1_000;

/**
 * Makes a clock that is set by `readClock` (the database's clock, ms) and continued by the process's clock, which never runs
 * backwards. So the lane and the workers use the same time, whatever the clocks of their machines say. A reading that the
 * watch does not believe leaves the clock as it is; `sync` throws if there is none before it.
 */
export function makeDatabaseClock(options: {
  readClock: () => Promise<number>;
  watch: Pick<ClockWatch, 'elapsed_ms' | 'observe' | 'doubt'>;
}): Clock {
  const { watch } = options;
  let ahead_ms: number | null = null;
  let asked_at_ms = 0;
  return {
    now_ms() {
      if (ahead_ms === null) throw new Error('the clock was read before it was set');
      return Math.floor(watch.elapsed_ms() + ahead_ms);
    },
    async sync() {
      if (ahead_ms !== null && watch.elapsed_ms() - asked_at_ms < KEPT_MS) return;
      const asked_ms = watch.elapsed_ms();
      const clock_ms = await options.readClock();
      const answered_ms = watch.elapsed_ms();
      const is_believed = watch.observe({ clock_ms, asked_ms, answered_ms });
      if (is_believed) ahead_ms = clock_ms - answered_ms;
      else if (ahead_ms === null) throw new Error(watch.doubt() ?? 'the clock is not trusted');
      asked_at_ms = answered_ms;
    },
  };
}
