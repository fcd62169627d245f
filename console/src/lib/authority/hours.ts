import type { ActiveHours } from '@purser/sdk';

/** The form's copy of one row of active hours. */
export interface HoursDraft {
  days: readonly string[];
  from: string;
  to: string;
}

export const WEEKDAYS = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'] as const;
const DAY_NAMES: Record<string, string> = {
  MON: 'Monday',
  TUE: 'Tuesday',
  WED: 'Wednesday',
  THU: 'Thursday',
  FRI: 'Friday',
  SAT: 'Saturday',
  SUN: 'Sunday',
};
export const dayName = (day: string): string => DAY_NAMES[day] ?? day;

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

/** "weekdays", "Saturday and Sunday", "Monday to Thursday". */
function daysInWords(days: readonly string[]): string {
  const places = WEEKDAYS.flatMap((day, i) => (days.includes(day) ? [i] : []));
  const names = places.map((place) => dayName(WEEKDAYS[place] as string));
  if (places.length === 7) return 'every day';
  if (places.join() === '0,1,2,3,4') return 'on weekdays';
  const [first = 0] = places;
  const is_run = places.length > 2 && places.every((place, i) => place === first + i);
  return is_run ? `from ${names[0]} to ${names.at(-1)}` : `on ${inWords(names)}`;
}

/** "a", "a and b", "a, b and c". */
export function inWords(words: readonly string[], last = 'and'): string {
  if (words.length < 2) return words.join();
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

/** "on weekdays from 08:00 to 18:00", "every day from 22:00 to 06:00 the next day". */
export function hoursInWords({ days, from, to }: ActiveHours): string {
  if (from === '00:00' && to === '24:00')
    return `${daysInWords(days)}${days.length === 7 ? '' : ', all day'}`;
  return `${daysInWords(days)} from ${from} to ${to}${to < from ? ' the next day' : ''}`;
}
