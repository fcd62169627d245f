/** A calendar window. A week begins on Monday. */
export const CALENDAR_WINDOWS = ['DAY', 'WEEK', 'MONTH'] as const;
/** The longer ones are those of shared budgets alone. */
export const CALENDAR_PERIODS = [...CALENDAR_WINDOWS, 'QUARTER', 'YEAR'] as const;
export type CalendarWindow = (typeof CALENDAR_PERIODS)[number];

/** Days of the week as ISO 8601 counts them, from Monday. */
export const WEEKDAYS = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'] as const;
export type Weekday = (typeof WEEKDAYS)[number];
