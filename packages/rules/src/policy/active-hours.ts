import type { ActiveHours } from '@purser/contract/authority';
import { WEEKDAYS, type Weekday } from '@purser/contract/calendar';
import { type CalendarSpan, nextClockChangeMs, wallClock, wallClockReachedMs } from '../values/calendar.ts';

/** A week and a day: whatever day a period is of, it begins once in them. */
const DAYS_TO_LOOK_AT = 8;
const DAY_MINUTES = 1_440;

/** Minutes since 00:00 of a time that is written `HH:MM`. */
const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** True where clocks of the time zone show a time in one of the periods. */
export function isActive(periods: ActiveHours[], time_zone: string, at_ms: number): boolean {
  const { weekday, minute } = wallClock(time_zone, at_ms);
  const yesterday = WEEKDAYS[(WEEKDAYS.indexOf(weekday) + 6) % 7] as Weekday;
  return periods.some(({ days, from, to }) => {
    const [first, end] = [minuteOf(from), minuteOf(to)];
    if (first < end) return days.includes(weekday) && minute >= first && minute < end;
    return (days.includes(weekday) && minute >= first) || (days.includes(yesterday) && minute < end);
  });
}

/** The last gap found for periods of a time zone. It is valid until its end. */
const LAST_GAPS = new Map<string, CalendarSpan>();
const MAX_LAST_GAPS = 1_000;

/**
 * The first moment after `at_ms` that lies in one of the periods, for a moment that lies in none: where a period begins,
 * or where clocks are set back into one. Null where clocks never show any of them. Milliseconds since 1970 UTC.
 */
export function nextActiveMs(periods: ActiveHours[], time_zone: string, at_ms: number): number | null {
  const key = `${time_zone} ${JSON.stringify(periods)}`;
  const last = LAST_GAPS.get(key);
  if (last !== undefined && at_ms >= last.starts_ms && at_ms < last.ends_ms) return last.ends_ms;
  const moments = periods.flatMap(({ from }) =>
    Array.from({ length: DAYS_TO_LOOK_AT + 1 }, (_, days) =>
      wallClockReachedMs(time_zone, at_ms, days, minuteOf(from)),
    ),
  );
  const change_ms = nextClockChangeMs(time_zone, at_ms);
  if (change_ms !== null) moments.push(change_ms);
  const open = moments.filter((ms) => ms > at_ms && isActive(periods, time_zone, ms));
  if (open.length === 0) return null;
  const ends_ms = Math.min(...open);
  if (LAST_GAPS.size >= MAX_LAST_GAPS) LAST_GAPS.clear();
  LAST_GAPS.set(key, { starts_ms: at_ms, ends_ms });
  return ends_ms;
}

/**
 * The first moment after `at_ms` that lies in none of the periods, for a moment that lies in one: where periods that follow
 * each other end, or where clocks are changed out of them. Null where there is none. Milliseconds since 1970 UTC.
 */
export function nextInactiveMs(periods: ActiveHours[], time_zone: string, at_ms: number): number | null {
  const moments = periods.flatMap(({ to }) =>
    Array.from({ length: DAYS_TO_LOOK_AT + 1 }, (_, days) =>
      // 24:00 is 00:00 of the next day.
      wallClockReachedMs(time_zone, at_ms, to === '24:00' ? days + 1 : days, minuteOf(to) % DAY_MINUTES),
    ),
  );
  const change_ms = nextClockChangeMs(time_zone, at_ms);
  if (change_ms !== null) moments.push(change_ms);
  const closed = moments.filter((ms) => ms > at_ms && !isActive(periods, time_zone, ms));
  return closed.length === 0 ? null : Math.min(...closed);
}
