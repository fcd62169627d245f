import pino, { type Logger } from 'pino';
import { type ClockWatch, makeClockWatch } from '../../src/engine/clock-watch.ts';

/** A watch that believes every reading, for tests that move the database's clock. */
export const TRUSTING_CLOCK: ClockWatch = {
  elapsed_ms: () => performance.now(),
  observe: () => true,
  doubt: () => null,
  isSettled: () => true,
  passedMs: () => Number.NEGATIVE_INFINITY,
  aheadMs: () => 0,
  onStep: () => {},
};

/** A watch whose own clocks are moved by hand: it sees the database's clock as a process that ran for `elapsed_ms` does. */
export function makeMovedClock(options: { wall_ms: number; log?: Logger }) {
  const own = { elapsed_ms: 0, suspended_ms: 0, wall_ms: options.wall_ms };
  const clock = makeClockWatch({
    log: options.log ?? pino({ level: 'silent' }),
    elapsed_ms: () => own.elapsed_ms,
    suspended_ms: () => own.suspended_ms,
    wall_ms: () => own.wall_ms,
  });
  return { own, clock };
}
