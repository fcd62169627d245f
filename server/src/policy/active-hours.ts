import type { ActivePeriod } from '../domain/authorities.ts';
import {
  nextClockChangeMs,
  WEEKDAYS,
  type Weekday,
  wallClock,
  wallClockReachedMs,
} from '../values/calendar.ts';

/** A week and a day: whatever day a period is of, it begins once in them. */
const DAYS_TO_LOOK_AT = 8;

/** Minutes since 00:00 of a time that is written `HH:MM`. */
const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** True where clocks of the time zone show a time in one of the periods. */
export function isActive(periods: ActivePeriod[], time_zone: string, at_ms: number): boolean {
  const { weekday, minute } = wallClock(time_zone, at_ms);
  const yesterday = WEEKDAYS[(WEEKDAYS.indexOf(weekday) + 6) % 7] as Weekday;
  return periods.some(({ days, from, to }) => {
    const [first, end] = [minuteOf(from), minuteOf(to)];
    if (first < end) return days.includes(weekday) && minute >= first && minute < end;
    return (days.includes(weekday) && minute >= first) || (days.includes(yesterday) && minute < end);
  });
}

/**
 * The first moment after `at_ms` that lies in one of the periods, for a moment that lies in none: where a period begins,
 * or where clocks are set back into one. Null where clocks never show any of them. Milliseconds since 1970 UTC.
 */
export function nextActiveMs(periods: ActivePeriod[], time_zone: string, at_ms: number): number | null {
  const moments = periods.flatMap(({ from }) =>
    Array.from({ length: DAYS_TO_LOOK_AT + 1 }, (_, days) =>
      wallClockReachedMs(time_zone, at_ms, days, minuteOf(from)),
    ),
  );
  const change_ms = nextClockChangeMs(time_zone, at_ms);
  if (change_ms !== null) moments.push(change_ms);
  const open = moments.filter((ms) => ms > at_ms && isActive(periods, time_zone, ms));
  return open.length === 0 ? null : Math.min(...open);
}
