import type { ActiveHours, AllowedPayee } from './authority.ts';
import { WEEKDAYS } from './calendar.ts';
import { MODEL_USAGE_DEFAULTS, type ModelUsage } from './models/fields.ts';
import { VELOCITY_DEFAULTS, type VelocityLimit } from './velocity-limits.ts';

/** A value whose optional fields may also be undefined, as in the types of clients. */
type Loose<Value> = {
  [Name in keyof Value]: Value[Name] | (object extends Pick<Value, Name> ? undefined : never);
};

/** Writes an amount with its currency. */
export type FormatMoney = (amount_minor: number, currency: string) => string;

/** "a", "a and b", "a, b and c". */
export function inWords(words: readonly string[], last = 'and'): string {
  if (words.length < 2) return words.join();
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

/** Units of time and their seconds, the largest first. */
export const UNITS = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const;

/** Seconds in the largest unit that divides them. */
export function spanOf(seconds: number): { length: string; unit: string } {
  const [unit, size] = Object.entries(UNITS).find(([, each]) => seconds % each === 0) ?? ['seconds', 1];
  return { length: String(seconds / size), unit };
}

/** "10 minutes", "1 day". */
export function spanInWords(seconds: number): string {
  const { length, unit } = spanOf(seconds);
  return `${length} ${length === '1' ? unit.slice(0, -1) : unit}`;
}

const DAY_NAMES: Readonly<Record<string, string>> = {
  MON: 'Monday',
  TUE: 'Tuesday',
  WED: 'Wednesday',
  THU: 'Thursday',
  FRI: 'Friday',
  SAT: 'Saturday',
  SUN: 'Sunday',
};
/** "Monday" of `MON`. */
export const dayName = (day: string): string => DAY_NAMES[day] ?? day;

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

/** "on weekdays from 08:00 to 18:00", "every day from 22:00 to 06:00 the next day". */
export function hoursInWords({ days, from, to }: ActiveHours): string {
  if (from === '00:00' && to === '24:00')
    return `${daysInWords(days)}${days.length === 7 ? '' : ', all day'}`;
  return `${daysInWords(days)} from ${from} to ${to}${to < from ? ' the next day' : ''}`;
}

const WINDOWS = { DAY: 'per day', WEEK: 'per week', MONTH: 'per month' } as const;
const PER = { AGENT: '', MERCHANT: ' at each merchant', PAYEE: ' to each payee' } as const;

/** "At most EUR 500.00 and 5 requests per day at each merchant". */
export function limitInWords(limit: Loose<VelocityLimit>, currency: string, money: FormatMoney): string {
  const { window, window_seconds, per = VELOCITY_DEFAULTS.per, limit_amount_minor, limit_count } = limit;
  const most = [
    limit_amount_minor === undefined ? '' : money(limit_amount_minor, currency),
    limit_count === undefined ? '' : `${limit_count} ${limit_count === 1 ? 'request' : 'requests'}`,
  ].filter((part) => part !== '');
  const within = window === 'ROLLING' ? `in any ${spanInWords(window_seconds ?? 0)}` : WINDOWS[window];
  const only = [
    limit.merchants === undefined ? '' : ` at ${inWords(limit.merchants, 'or')}`,
    limit.action_types === undefined ? '' : ` for ${inWords(limit.action_types, 'or')}`,
  ];
  return `At most ${inWords(most)} ${within}${PER[per]}${only.join('')}`;
}

/** "iban:DE44500105175407324931 Hetzner Online". */
export const payeeInWords = ({ payee_id, merchant }: Loose<AllowedPayee>): string =>
  merchant === undefined ? payee_id : `${payee_id} ${merchant}`;

/** "all models with a price; a low budget lowers the output limit; unknown prices are refused". */
export function modelUsageInWords({
  models,
  on_low_budget = MODEL_USAGE_DEFAULTS.on_low_budget,
  on_unknown_price = MODEL_USAGE_DEFAULTS.on_unknown_price,
}: Loose<ModelUsage>): string {
  return [
    models === undefined ? 'all models with a price' : inWords(models),
    on_low_budget === 'LOWER' ? 'a low budget lowers the output limit' : 'a low budget refuses calls',
    on_unknown_price === 'REFUSE'
      ? 'unknown prices are refused'
      : 'unknown prices count as the highest price',
  ].join('; ');
}
