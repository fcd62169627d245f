import { CLOCK_TOLERANCE_MS } from '@purser/rules/values/clock-tolerance';
import type { Logger } from 'pino';

/** A clock that jumped is believed once its readings have agreed with each other for this long, and are this many. */
const AGREED_FOR_MS = 60_000;
const AGREED_READINGS = 5;
/** A clock that is slewed gains or loses at most this share of the time that passes. More is a step, also in small parts. */
const MAX_SLEW = 0.1;
/** An operator's confirmation holds for a jump that is seen within this time after it. */
const CONFIRMED_FOR_MS = 600_000;
/** After a jump that nobody confirmed, nothing is deleted for being old during this time. */
const UNSETTLED_MS = 86_400_000;

/** One reading of the database's clock. It was read between the two moments of the process's clock, which never runs backwards. */
export interface ClockReading {
  /** Ms since 1970. */
  clock_ms: number;
  asked_ms: number;
  answered_ms: number;
  /** The time of a batch in the database, ms since 1970; null where there is none, left out where nobody looked. */
  newest_ms?: number | null;
  /** When an operator last confirmed the clock, by that clock; left out where nobody looked. */
  confirmed_ms?: number | null;
}

/** Watches the database's clock for jumps, by the clock of the process that never runs backwards. */
export interface ClockWatch {
  /** The process's clock that readings are taken between, ms; it never runs backwards. */
  elapsed_ms(): number;
  /** Compares a reading with those before it. Returns whether the clock is believed; only then may it date anything. */
  observe(reading: ClockReading): boolean;
  /** Returns why the clock is not believed, in a sentence with both readings; null while it is. */
  doubt(): string | null;
  /** Returns false while the clock is not believed, and for a day after it jumped without an operator's confirmation. */
  isSettled(): boolean;
  /** Returns a time that has surely passed, ms since 1970: what was over by then is not good again, whatever the clock reads. */
  passedMs(): number;
  /** Returns how far the newest batch known here is ahead of the clock, ms; 0 where the clock has passed it. */
  aheadMs(): number;
  /** Calls `listener` whenever the clock is believed at another time than before. */
  onStep(listener: () => void): void;
}

export interface ClockWatchOptions {
  log: Logger;
  /** The process's clock, which never runs backwards, ms. */
  elapsed_ms: () => number;
  /** How long the machine was suspended since the process began, which `elapsed_ms` may not count, ms. */
  suspended_ms: () => number;
  /** This machine's own clock, ms since 1970. Only the first reading is compared with it. */
  wall_ms: () => number;
}

/** A jump of the clock that is not believed yet. */
interface Jump {
  /** The clock minus the process's clock. */
  offset_ms: number;
  since_ms: number;
  readings: number;
  clock_ms: number;
  expected_ms: number;
}

const iso = (time_ms: number) => new Date(time_ms).toISOString();

/** How far a reading is from what the offset lets expect, ms. */
function apart(offset_ms: number, { clock_ms, asked_ms, answered_ms }: ClockReading): number {
  const earliest_ms = offset_ms + asked_ms;
  const latest_ms = offset_ms + answered_ms;
  if (clock_ms < earliest_ms) return clock_ms - earliest_ms;
  return Math.max(0, clock_ms - latest_ms);
}

const agrees = (distance_ms: number) => Math.abs(distance_ms) <= CLOCK_TOLERANCE_MS;

/**
 * Makes the watch. A reading is believed if the database's clock went on, since the reading before, about as far as the
 * process's did. Otherwise the clock is doubted until it is back, or its readings have agreed for a minute, or an operator
 * has confirmed it. The first reading of a process is believed if the machine's clock or the newest batch agrees with it, or
 * if there is no batch yet.
 */
export function makeClockWatch({ log, elapsed_ms, suspended_ms, wall_ms }: ClockWatchOptions): ClockWatch {
  let believed_offset_ms: number | null = null;
  /** When the offset last followed the clock, by the process's clock. */
  let followed_ms = 0;
  /** The confirmation that was known before a jump, and so is none of it. */
  let confirmed_before_ms: number | null = null;
  let jump: Jump | null = null;
  let newest_ms = 0;
  let suspended_before_ms = suspended_ms();
  let settled_from_ms = Number.NEGATIVE_INFINITY;
  const listeners: (() => void)[] = [];

  /** Returns the distance of a reading from what is expected; null where nothing is expected yet. */
  function distance(reading: ClockReading): number | null {
    if (believed_offset_ms === null) return null;
    const found = apart(believed_offset_ms, reading);
    if (agrees(found)) return found;
    // The process's clock may have stopped while the machine was suspended, and the database's went on.
    const suspended = suspended_ms();
    believed_offset_ms += suspended - suspended_before_ms;
    suspended_before_ms = suspended;
    return apart(believed_offset_ms, reading);
  }

  function isFirstBelieved({ clock_ms, newest_ms }: ClockReading): boolean {
    if (newest_ms === null || agrees(clock_ms - wall_ms())) return true;
    return newest_ms !== undefined && agrees(clock_ms - newest_ms);
  }

  function believe(offset_ms: number, { answered_ms, confirmed_ms }: ClockReading): void {
    believed_offset_ms = offset_ms;
    followed_ms = answered_ms;
    confirmed_before_ms = confirmed_ms ?? confirmed_before_ms;
    jump = null;
  }

  /** Returns the offset that follows a clock which is slewed. Steps under the tolerance add up to one that is not. */
  function followed(offset_ms: number, found_ms: number, { answered_ms }: ClockReading): number {
    const most_ms = MAX_SLEW * Math.max(0, answered_ms - followed_ms);
    return offset_ms + Math.max(-most_ms, Math.min(most_ms, found_ms));
  }

  function step(
    { offset_ms, clock_ms, expected_ms }: Jump,
    is_confirmed: boolean,
    reading: ClockReading,
  ): void {
    const times = { clock: iso(clock_ms), expected: iso(expected_ms) };
    believe(offset_ms, reading);
    if (is_confirmed) {
      settled_from_ms = Number.NEGATIVE_INFINITY;
      log.warn(times, "an operator confirmed the database's clock; writes continue at its time");
    } else {
      settled_from_ms = reading.answered_ms + UNSETTLED_MS;
      log.warn(
        times,
        "the database's clock kept its new time for a minute; writes continue at it, and nothing is deleted by age for a day",
      );
    }
    for (const listener of listeners) listener();
  }

  function doubtReading(reading: ClockReading): boolean {
    const { clock_ms, answered_ms, confirmed_ms } = reading;
    const moved = jump === null ? null : apart(jump.offset_ms, reading);
    if (jump === null || moved === null || !agrees(moved)) {
      const expected_ms = believed_offset_ms === null ? wall_ms() : believed_offset_ms + answered_ms;
      jump = { offset_ms: clock_ms - answered_ms, since_ms: answered_ms, readings: 1, clock_ms, expected_ms };
      log.error(
        { clock: iso(clock_ms), expected: iso(expected_ms), newest_batch: iso(newest_ms) },
        "the database's clock jumped; writes are refused until it is back, was steady for a minute, or is confirmed with confirm-clock",
      );
    } else {
      jump.readings += 1;
    }
    const since_confirmed_ms = clock_ms - (confirmed_ms ?? Number.NEGATIVE_INFINITY);
    const is_confirmed =
      confirmed_ms !== confirmed_before_ms &&
      since_confirmed_ms >= 0 &&
      since_confirmed_ms <= CONFIRMED_FOR_MS;
    const has_agreed = jump.readings >= AGREED_READINGS && answered_ms - jump.since_ms >= AGREED_FOR_MS;
    if (!is_confirmed && !has_agreed) return false;
    step(jump, is_confirmed, reading);
    return true;
  }

  return {
    elapsed_ms,
    observe(reading) {
      newest_ms = Math.max(newest_ms, reading.newest_ms ?? 0);
      const found = distance(reading);
      if (found === null ? !isFirstBelieved(reading) : !agrees(found)) return doubtReading(reading);
      const before = jump;
      believe(
        found === null
          ? reading.clock_ms - reading.answered_ms
          : followed(believed_offset_ms as number, found, reading),
        reading,
      );
      if (before !== null) {
        log.warn({ clock: iso(reading.clock_ms) }, "the database's clock is back at the expected time");
      }
      return true;
    },
    doubt: () =>
      jump === null
        ? null
        : `The database's clock reads ${iso(jump.clock_ms)}, but ${iso(jump.expected_ms)} was expected; nothing is written until it is back, was steady for a minute, or an operator confirms it.`,
    isSettled: () => jump === null && elapsed_ms() >= settled_from_ms,
    passedMs: () =>
      believed_offset_ms === null
        ? Number.NEGATIVE_INFINITY
        : believed_offset_ms + elapsed_ms() - CLOCK_TOLERANCE_MS,
    aheadMs: () =>
      believed_offset_ms === null ? 0 : Math.max(0, newest_ms - (believed_offset_ms + elapsed_ms())),
    onStep: (listener) => void listeners.push(listener),
  };
}

/**
 * The two times of a batch. `order_ms` is later than that of every earlier batch of the workspace; ids and the chain have it.
 * `now_ms` is what limits, periods and expiry count by: the same, unless the chain is ahead of the clock by more than the
 * tolerance, because it was written at a wrong time. Then it is the clock.
 */
export function batchTimes(clock_ms: number, head_ms: number): { order_ms: number; now_ms: number } {
  const order_ms = Math.max(clock_ms, head_ms + 1);
  return { order_ms, now_ms: order_ms - clock_ms <= CLOCK_TOLERANCE_MS ? order_ms : clock_ms };
}
