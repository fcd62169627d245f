import type { ActiveHours } from './authority.ts';
import { WEEKDAYS } from './calendar.ts';

const DAY_MINUTES = 24 * 60;
const WEEK_MINUTES = 7 * DAY_MINUTES;

const minutesOf = (clock: string) => {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return hours * 60 + minutes;
};
const clockOf = (minute: number) => {
  const of_day = minute % DAY_MINUTES;
  const two = (number: number) => String(number).padStart(2, '0');
  return `${WEEKDAYS[Math.floor(minute / DAY_MINUTES) % 7]} ${two(Math.floor(of_day / 60))}:${two(of_day % 60)}`;
};

/** The minutes of a week in which the agent may spend; all of them without hours. */
function activeMinutes(hours: readonly ActiveHours[] | undefined): boolean[] {
  const active = Array<boolean>(WEEK_MINUTES).fill(hours === undefined);
  for (const { days, from, to } of hours ?? []) {
    const begin = minutesOf(from);
    const end = minutesOf(to) > begin ? minutesOf(to) : minutesOf(to) + DAY_MINUTES;
    for (const day of days) {
      const midnight = WEEKDAYS.indexOf(day) * DAY_MINUTES;
      for (let minute = begin; minute < end; minute += 1) active[(midnight + minute) % WEEK_MINUTES] = true;
    }
  }
  return active;
}

/** Spans of the week that `after` has and `before` has not: "MON 18:00 to MON 19:00". Undefined stands for all hours. */
export function hoursGained(
  before: readonly ActiveHours[] | undefined,
  after: readonly ActiveHours[] | undefined,
): string[] {
  const [not, has] = [activeMinutes(before), activeMinutes(after)];
  const spans: string[] = [];
  for (let begin = 0; begin < WEEK_MINUTES; begin += 1) {
    if (has[begin] !== true || not[begin] === true) continue;
    let end = begin;
    while (end < WEEK_MINUTES && has[end] === true && not[end] !== true) end += 1;
    spans.push(`${clockOf(begin)} to ${clockOf(end)}`);
    begin = end;
  }
  return spans;
}
