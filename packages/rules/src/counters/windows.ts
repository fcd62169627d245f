import type { CALENDAR_WINDOWS, CalendarWindow } from '@purser/contract/calendar';
import { type CalendarSpan, calendarWindow } from '../values/calendar.ts';

/** Over what time limits count: the days, weeks or months of a time zone, or the last so many seconds. */
export type PaceWindow =
  | { type: (typeof CALENDAR_WINDOWS)[number]; time_zone: string }
  | { type: 'ROLLING'; window_seconds: number };

/** Over what time spends are counted: those of limits, longer stretches of the calendar, or all time. */
export type CounterWindow = PaceWindow | { type: CalendarWindow; time_zone: string } | { type: 'TOTAL' };

/** All time, in the moments that timestamps of four-digit years have. */
const ALL_TIME: CalendarSpan = { starts_ms: 0, ends_ms: Date.UTC(9999, 11, 31, 23, 59, 59, 999) };

/** A rolling window is counted in this many steps, so that a counter has few slots however many spends there are. */
const STEPS = 60;
const DAY_SECONDS = 86_400;
/** No calendar window is longer, whatever its clocks do. */
const MAX_CALENDAR_DAYS: Record<CalendarWindow, number> = {
  DAY: 32,
  WEEK: 32,
  MONTH: 32,
  QUARTER: 93,
  YEAR: 367,
};

function stepSeconds(window_seconds: number): number {
  return Math.ceil(window_seconds / STEPS);
}

/**
 * The slot that a spend at this moment counts in: from when on spends fall into it, and from when on it counts no more. Of a
 * calendar window it is the whole window. Of a rolling one it is a step: it counts until the whole window has passed since
 * its end. So every spend counts for at least the window, and no stretch of that length ever holds more than the limit.
 */
export function slotAt(window: CounterWindow, at_ms: number): CalendarSpan {
  if (window.type === 'TOTAL') return ALL_TIME;
  if (window.type !== 'ROLLING') return calendarWindow(window.type, window.time_zone, at_ms);
  const step_ms = stepSeconds(window.window_seconds) * 1000;
  const starts_ms = Math.floor(at_ms / step_ms) * step_ms;
  return { starts_ms, ends_ms: starts_ms + step_ms + window.window_seconds * 1000 };
}

/** A slot as it is told. ISO UTC. */
interface WrittenSlot {
  readonly type: CounterWindow['type'];
  readonly starts_at: string;
  readonly ends_at: string;
}

/** The slot of each window that was told last, and the moments of which it is the slot: those of most decisions are in it. */
const last_written = new WeakMap<CounterWindow, { from_ms: number; before_ms: number; slot: WrittenSlot }>();

/** The slot of `slotAt` as it is told. Shared; it must not be changed. */
export function writtenSlotAt(window: CounterWindow, at_ms: number): WrittenSlot {
  const last = last_written.get(window);
  if (last !== undefined && at_ms >= last.from_ms && at_ms < last.before_ms) return last.slot;
  const { starts_ms, ends_ms } = slotAt(window, at_ms);
  const starts_at = new Date(starts_ms).toISOString();
  const ends_at = new Date(ends_ms).toISOString();
  const slot = { type: window.type, starts_at, ends_at };
  const before_ms =
    window.type === 'ROLLING' ? starts_ms + stepSeconds(window.window_seconds) * 1000 : ends_ms;
  last_written.set(window, { from_ms: starts_ms, before_ms, slot });
  return slot;
}

/** More than have passed since `ALL_TIME` began, and as far back from now as PostgreSQL has timestamps: 3,000 years. */
const ALL_TIME_REACH_S = 94_672_800_000;

/** For how many seconds after its start a slot of the window counts at most. */
export function reachSeconds(window: CounterWindow): number {
  if (window.type === 'TOTAL') return ALL_TIME_REACH_S;
  if (window.type !== 'ROLLING') return MAX_CALENDAR_DAYS[window.type] * DAY_SECONDS;
  return window.window_seconds + stepSeconds(window.window_seconds);
}
