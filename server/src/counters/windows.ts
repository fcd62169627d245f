import { type CalendarSpan, type CalendarWindow, calendarWindow } from '../values/calendar.ts';

/** Over what time spends are counted: the days, weeks or months of a time zone, or the last so many seconds. */
export type CounterWindow =
  | { type: CalendarWindow; time_zone: string }
  | { type: 'ROLLING'; window_seconds: number };

/** A rolling window is counted in this many steps, so that a counter has few slots however many spends there are. */
const STEPS = 60;
const DAY_SECONDS = 86_400;
/** No month is longer, whatever its clocks do. */
const MAX_CALENDAR_SECONDS = 32 * DAY_SECONDS;

function stepSeconds(window_seconds: number): number {
  return Math.ceil(window_seconds / STEPS);
}

/**
 * The slot that a spend at this moment counts in: from when on spends fall into it, and from when on it counts no more. Of a
 * calendar window it is the whole window. Of a rolling one it is a step: it counts until the whole window has passed since
 * its end. So every spend counts for at least the window, and no stretch of that length ever holds more than the limit.
 */
export function slotAt(window: CounterWindow, at_ms: number): CalendarSpan {
  if (window.type !== 'ROLLING') return calendarWindow(window.type, window.time_zone, at_ms);
  const step_ms = stepSeconds(window.window_seconds) * 1000;
  const starts_ms = Math.floor(at_ms / step_ms) * step_ms;
  return { starts_ms, ends_ms: starts_ms + step_ms + window.window_seconds * 1000 };
}

/** For how many seconds after its start a slot of the window counts at most. */
export function reachSeconds(window: CounterWindow): number {
  if (window.type !== 'ROLLING') return MAX_CALENDAR_SECONDS;
  return window.window_seconds + stepSeconds(window.window_seconds);
}
