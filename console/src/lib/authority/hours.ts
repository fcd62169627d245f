import { WEEKDAYS } from '@purser/contract/calendar';
import type { ActiveHours } from '@purser/sdk';

/** The form's copy of one row of active hours. */
export interface HoursDraft {
  days: readonly string[];
  from: string;
  to: string;
}

/** The first row of a new schedule. */
export const OFFICE_HOURS: HoursDraft = { days: WEEKDAYS.slice(0, 5), from: '08:00', to: '18:00' };

/** Reads a typed time of day ("8", "8:30", "08.30") as "08:30". Null if it is none. */
export function timeOfDay(text: string): string | null {
  const found = /^(\d{1,2})(?:[:.h]?(\d{2}))?$/.exec(text.trim());
  if (found === null) return null;
  const [hour, minute] = [Number(found[1]), Number(found[2] ?? 0)];
  if (hour > 24 || minute > 59 || (hour === 24 && minute > 0)) return null;
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}

/** Reads the rows and adds their problems by path. */
export function hoursOf(rows: readonly HoursDraft[], problems: Record<string, string>): ActiveHours[] {
  return rows.map(({ days, from: typed_from, to: typed_to }, i) => {
    const wrong = (field: string, problem: string) => {
      problems[`active_hours[${i}].${field}`] = problem;
    };
    const from = timeOfDay(typed_from);
    const to = timeOfDay(typed_to);
    if (days.length === 0) wrong('days', 'needs at least one day');
    if (from === null || from === '24:00') wrong('from', 'must be a time from 00:00 to 23:59');
    if (to === null) wrong('to', 'must be a time from 00:00 to 24:00');
    else if (to === from) wrong('to', 'must not be the same as from; 24:00 is the end of the day');
    const order = (day: string) => WEEKDAYS.indexOf(day as (typeof WEEKDAYS)[number]);
    return {
      days: [...days].sort((a, b) => order(a) - order(b)) as ActiveHours['days'],
      from: from ?? '',
      to: to ?? '',
    };
  });
}
