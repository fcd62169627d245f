import { type CalendarWindow, WEEKDAYS, type Weekday } from '@purser/contract/calendar';
import { Temporal } from 'temporal-polyfill';

/** From `starts_ms` on and before `ends_ms`, in milliseconds since 1970 UTC. */
export interface CalendarSpan {
  starts_ms: number;
  ends_ms: number;
}

/** Local time: the day of the week, and the minutes since 00:00. */
export interface WallClock {
  weekday: Weekday;
  minute: number;
}

/** True for a name of the IANA time zone database, or an alias of one, in the letters that the database writes it in. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Z]/.test(name) && zoned(0, name).timeZoneId === name;
  } catch {
    return false;
  }
}

/**
 * The window of a time zone's calendar that a moment lies in. A day begins at the first instant of its date: where clocks
 * skip midnight that is later than 00:00, where midnight comes twice it is the first. So days last 23 to 25 hours where
 * clocks are changed.
 */
export function calendarWindow(window: CalendarWindow, time_zone: string, at_ms: number): CalendarSpan {
  const key = `${window} ${time_zone}`;
  const last = LAST_WINDOWS.get(key);
  if (last !== undefined && at_ms >= last.starts_ms && at_ms < last.ends_ms) return last;
  const date = zoned(at_ms, time_zone).toPlainDate();
  const first = FIRST_DATE[window](date);
  const span = {
    starts_ms: firstInstantMs(first, time_zone),
    ends_ms: firstInstantMs(first.add(LENGTH[window]), time_zone),
  };
  if (LAST_WINDOWS.size >= MAX_LAST_WINDOWS) LAST_WINDOWS.clear();
  LAST_WINDOWS.set(key, span);
  return span;
}

/** The local time in a time zone. A skipped hour never occurs, a repeated hour occurs twice. */
export function wallClock(time_zone: string, at_ms: number): WallClock {
  const shown_ms = at_ms + offsetMs(time_zone, at_ms);
  // 1970 began on a Thursday.
  const weekday = WEEKDAYS[(((Math.floor(shown_ms / DAY_MS) + 3) % 7) + 7) % 7] as Weekday;
  return { weekday, minute: Math.floor((((shown_ms % DAY_MS) + DAY_MS) % DAY_MS) / 60_000) };
}

/** A date and time of a calendar and a clock on a wall. */
export interface LocalDateTime {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

/**
 * A local date and time as milliseconds since 1970 UTC: the first of an hour that occurs twice; what clocks skip counts from
 * before the change. Null for a date or time that there is not.
 */
export function instantOfLocal(local: LocalDateTime, time_zone: string): number | null {
  try {
    const plain = Temporal.PlainDateTime.from(local, { overflow: 'reject' });
    return plain.toZonedDateTime(time_zone, { disambiguation: 'compatible' }).epochMilliseconds;
  } catch {
    return null;
  }
}

/** The local date and time in a time zone: `2026-11-23 00:00`. */
export function localTime(time_zone: string, at_ms: number): string {
  return zoned(at_ms, time_zone).toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ');
}

/**
 * The first instant, from `days` after the date of a moment on, at which clocks show `minute` or later of that date; where
 * they skip it, the instant after what they skip. Milliseconds since 1970 UTC.
 */
export function wallClockReachedMs(time_zone: string, at_ms: number, days: number, minute: number): number {
  const date = zoned(at_ms, time_zone).toPlainDate().add({ days });
  if (minute === 0) return firstInstantMs(date, time_zone);
  const time = date.toPlainDateTime({ hour: Math.floor(minute / 60), minute: minute % 60 });
  const reached = time.toZonedDateTime(time_zone, { disambiguation: 'compatible' });
  if (reached.toPlainDateTime().equals(time)) return reached.epochMilliseconds;
  // A skipped time is put as far behind the skip as it lay in it.
  return (reached.getTimeZoneTransition('previous') ?? reached).epochMilliseconds;
}

/** When clocks of a time zone are changed next; null where no change is known. Milliseconds since 1970 UTC. */
export function nextClockChangeMs(time_zone: string, at_ms: number): number | null {
  return zoned(at_ms, time_zone).getTimeZoneTransition('next')?.epochMilliseconds ?? null;
}

/** The window that was asked for last, by kind and zone: most decisions of a day fall into the same ones. */
const LAST_WINDOWS = new Map<string, CalendarSpan>();
const MAX_LAST_WINDOWS = 1_000;

const DAY_MS = 86_400_000;

/** The offset of a zone's clocks that was asked for last, with the time for which it is known to hold. */
const LAST_OFFSETS = new Map<string, CalendarSpan & { offset_ms: number }>();

/** How far clocks of a time zone are ahead of UTC. */
function offsetMs(time_zone: string, at_ms: number): number {
  const last = LAST_OFFSETS.get(time_zone);
  if (last !== undefined && at_ms >= last.starts_ms && at_ms < last.ends_ms) return last.offset_ms;
  const offset_ms = zoned(at_ms, time_zone).offsetNanoseconds / 1e6;
  const ends_ms = nextClockChangeMs(time_zone, at_ms) ?? Number.POSITIVE_INFINITY;
  if (LAST_OFFSETS.size >= MAX_LAST_WINDOWS) LAST_OFFSETS.clear();
  LAST_OFFSETS.set(time_zone, { starts_ms: at_ms, ends_ms, offset_ms });
  return offset_ms;
}

const FIRST_DATE: Record<CalendarWindow, (date: Temporal.PlainDate) => Temporal.PlainDate> = {
  DAY: (date) => date,
  WEEK: (date) => date.subtract({ days: date.dayOfWeek - 1 }),
  MONTH: (date) => date.with({ day: 1 }),
  QUARTER: (date) => date.with({ day: 1, month: date.month - ((date.month - 1) % 3) }),
  YEAR: (date) => date.with({ day: 1, month: 1 }),
};
const LENGTH: Record<CalendarWindow, Temporal.DurationLike> = {
  DAY: { days: 1 },
  WEEK: { days: 7 },
  MONTH: { months: 1 },
  QUARTER: { months: 3 },
  YEAR: { years: 1 },
};

function zoned(at_ms: number, time_zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at_ms).toZonedDateTimeISO(time_zone);
}

function firstInstantMs(date: Temporal.PlainDate, time_zone: string): number {
  return date.toZonedDateTime(time_zone).epochMilliseconds;
}
