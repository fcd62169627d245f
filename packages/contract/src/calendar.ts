/** A calendar window. A week begins on Monday. */
export const CALENDAR_WINDOWS = ['DAY', 'WEEK', 'MONTH'] as const;
/** The longer ones are those of shared budgets alone. */
export const CALENDAR_PERIODS = [...CALENDAR_WINDOWS, 'QUARTER', 'YEAR'] as const;
export type CalendarWindow = (typeof CALENDAR_PERIODS)[number];

/** Days of the week as ISO 8601 counts them, from Monday. */
export const WEEKDAYS = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** A moment in UTC for people, up to the next full second: `2026-11-23 14:07 UTC`, `2026-11-23 14:07:40 UTC`. */
export function utcTime(at_ms: number): string {
  const [day = '', time = ''] = new Date(Math.ceil(at_ms / 1000) * 1000).toISOString().split('T');
  return `${day} ${time.slice(0, time.startsWith('00', 6) ? 5 : 8)} UTC`;
}
