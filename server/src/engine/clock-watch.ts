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
export function makeClockWatch(options: ClockWatchOptions): ClockWatch {
  return new Watch(options);
}

class Watch implements ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #listeners: (() => void)[] = [];
  #believed_offset_ms: number | null = null;
  /** When the offset last followed the clock, by the process's clock. */
  #followed_ms = 0;
  /** The confirmation that was known before a jump, and so is none of it. */
  #confirmed_before_ms: number | null = null;
  #jump: Jump | null = null;
  #newest_ms = 0;
  #suspended_before_ms: number;
  #settled_from_ms = Number.NEGATIVE_INFINITY;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    this.#suspended_before_ms = options.suspended_ms();
  }

  elapsed_ms(): number {
    return this.#options.elapsed_ms();
  }

  observe(reading: ClockReading): boolean {
    this.#newest_ms = Math.max(this.#newest_ms, reading.newest_ms ?? 0);
    const found = this.#distance(reading);
    if (found === null ? !this.#isFirstBelieved(reading) : !agrees(found)) return this.#doubtReading(reading);
    const is_back = this.#jump !== null;
    const { clock_ms, answered_ms } = reading;
    this.#believe(found === null ? clock_ms - answered_ms : this.#followed(found, reading), reading);
    if (is_back) {
      this.#options.log.warn({ clock: iso(clock_ms) }, "the database's clock is back at the expected time");
    }
    return true;
  }

  doubt(): string | null {
    if (this.#jump === null) return null;
    const { clock_ms, expected_ms } = this.#jump;
    return `The database's clock reads ${iso(clock_ms)}, but ${iso(expected_ms)} was expected; nothing is written until it is back, was steady for a minute, or an operator confirms it.`;
  }

  isSettled(): boolean {
    return this.#jump === null && this.elapsed_ms() >= this.#settled_from_ms;
  }

  passedMs(): number {
    return this.#believed_offset_ms === null
      ? Number.NEGATIVE_INFINITY
      : this.#believed_offset_ms + this.elapsed_ms() - CLOCK_TOLERANCE_MS;
  }

  aheadMs(): number {
    return this.#believed_offset_ms === null
      ? 0
      : Math.max(0, this.#newest_ms - (this.#believed_offset_ms + this.elapsed_ms()));
  }

  onStep(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Returns the distance of a reading from what is expected; null where nothing is expected yet. */
  #distance(reading: ClockReading): number | null {
    if (this.#believed_offset_ms === null) return null;
    const found = apart(this.#believed_offset_ms, reading);
    if (agrees(found)) return found;
    // The process's clock may have stopped while the machine was suspended, and the database's went on.
    const suspended = this.#options.suspended_ms();
    this.#believed_offset_ms += suspended - this.#suspended_before_ms;
    this.#suspended_before_ms = suspended;
    return apart(this.#believed_offset_ms, reading);
  }

  #isFirstBelieved({ clock_ms, newest_ms }: ClockReading): boolean {
    if (newest_ms === null || agrees(clock_ms - this.#options.wall_ms())) return true;
    return newest_ms !== undefined && agrees(clock_ms - newest_ms);
  }

  /** Returns the offset that follows a clock which is slewed. Steps under the tolerance add up to one that is not. */
  #followed(found_ms: number, { answered_ms }: ClockReading): number {
    const most_ms = MAX_SLEW * Math.max(0, answered_ms - this.#followed_ms);
    return (this.#believed_offset_ms as number) + Math.max(-most_ms, Math.min(most_ms, found_ms));
  }

  #believe(offset_ms: number, { answered_ms, confirmed_ms }: ClockReading): void {
    this.#believed_offset_ms = offset_ms;
    this.#followed_ms = answered_ms;
    this.#confirmed_before_ms = confirmed_ms ?? this.#confirmed_before_ms;
    this.#jump = null;
  }

  /** Takes a reading that is not believed. Returns true if it ends the doubt. */
  #doubtReading(reading: ClockReading): boolean {
    const jump = this.#jumpOf(reading);
    const is_confirmed = this.#isConfirmed(reading);
    const agreed_ms = reading.answered_ms - jump.since_ms;
    const has_agreed = jump.readings >= AGREED_READINGS && agreed_ms >= AGREED_FOR_MS;
    if (!is_confirmed && !has_agreed) return false;
    this.#step(jump, is_confirmed, reading);
    return true;
  }

  /** Returns the jump that a reading agrees with: the one that is doubted already, or one that begins with it. */
  #jumpOf(reading: ClockReading): Jump {
    const { clock_ms, answered_ms } = reading;
    if (this.#jump !== null && agrees(apart(this.#jump.offset_ms, reading))) {
      this.#jump.readings += 1;
      return this.#jump;
    }
    const expected_ms =
      this.#believed_offset_ms === null ? this.#options.wall_ms() : this.#believed_offset_ms + answered_ms;
    const since = { since_ms: answered_ms, readings: 1 };
    this.#jump = { offset_ms: clock_ms - answered_ms, ...since, clock_ms, expected_ms };
    this.#options.log.error(
      { clock: iso(clock_ms), expected: iso(expected_ms), newest_batch: iso(this.#newest_ms) },
      "the database's clock jumped; writes are refused until it is back, was steady for a minute, or is confirmed with confirm-clock",
    );
    return this.#jump;
  }

  #isConfirmed({ clock_ms, confirmed_ms }: ClockReading): boolean {
    const since_confirmed_ms = clock_ms - (confirmed_ms ?? Number.NEGATIVE_INFINITY);
    return (
      confirmed_ms !== this.#confirmed_before_ms &&
      since_confirmed_ms >= 0 &&
      since_confirmed_ms <= CONFIRMED_FOR_MS
    );
  }

  /** Believes the clock at its new time. */
  #step({ offset_ms, clock_ms, expected_ms }: Jump, is_confirmed: boolean, reading: ClockReading): void {
    const { log } = this.#options;
    const times = { clock: iso(clock_ms), expected: iso(expected_ms) };
    this.#believe(offset_ms, reading);
    if (is_confirmed) {
      this.#settled_from_ms = Number.NEGATIVE_INFINITY;
      log.warn(times, "an operator confirmed the database's clock; writes continue at its time");
    } else {
      this.#settled_from_ms = reading.answered_ms + UNSETTLED_MS;
      log.warn(
        times,
        "the database's clock kept its new time for a minute; writes continue at it, and nothing is deleted by age for a day",
      );
    }
    for (const listener of this.#listeners) listener();
  }
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
