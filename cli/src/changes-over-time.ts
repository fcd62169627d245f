import { type AuthorityFields, type Change, moneyIn } from './change.ts';

/** How a moment at which the agent begins or ends to spend changes. `isWider`: whether one lets it spend at more times. */
export function instantChange(
  field: string,
  what: string,
  was: AuthorityFields,
  is: AuthorityFields,
  isWider: (to: number, from: number) => boolean,
): Change[] {
  const [from, to] = [was[field], is[field]];
  if (to === undefined)
    return [{ field, sentence: `${what} no certain moment; it was ${String(from)}`, widens: 'yes' }];
  if (from === undefined) return [{ field, sentence: `${what} ${String(to)}`, widens: 'no' }];
  const [before, after] = [Date.parse(String(from)), Date.parse(String(to))];
  // The same moment may be written in several ways.
  if (before === after) return [];
  const widens = isWider(after, before) ? 'yes' : 'no';
  return [{ field, sentence: `${what} ${String(to)}; it was ${String(from)}`, widens }];
}

const DAYS = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'];
const DAY_MINUTES = 24 * 60;
const WEEK_MINUTES = 7 * DAY_MINUTES;

interface ActivePeriod {
  days: string[];
  from: string;
  to: string;
}

const minutesOf = (clock: string) => {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return hours * 60 + minutes;
};
const clockOf = (minute: number) => {
  const of_day = minute % DAY_MINUTES;
  const two = (value: number) => String(value).padStart(2, '0');
  return `${DAYS[Math.floor(minute / DAY_MINUTES) % 7]} ${two(Math.floor(of_day / 60))}:${two(of_day % 60)}`;
};

/** The minutes of a week in which the agent may spend; all of them without hours. */
function activeMinutes(hours: unknown): boolean[] {
  if (!Array.isArray(hours)) return Array<boolean>(WEEK_MINUTES).fill(true);
  const active = Array<boolean>(WEEK_MINUTES).fill(false);
  for (const { days, from, to } of hours as ActivePeriod[]) {
    const begin = minutesOf(from);
    const end = minutesOf(to) > begin ? minutesOf(to) : minutesOf(to) + DAY_MINUTES;
    for (const day of days) {
      const midnight = DAYS.indexOf(day) * DAY_MINUTES;
      for (let minute = begin; minute < end; minute += 1) active[(midnight + minute) % WEEK_MINUTES] = true;
    }
  }
  return active;
}

/** Spans of the week that one has and the other has not. */
function spansWithout(has: readonly boolean[], not: readonly boolean[]): string[] {
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

const MAX_SPANS = 7;
const listed = (spans: readonly string[]) =>
  spans.length <= MAX_SPANS
    ? spans.join(', ')
    : `${spans.slice(0, MAX_SPANS).join(', ')} and ${spans.length - MAX_SPANS} more`;

/** Which hours of the week are added, and which are gone. */
export function hoursChanges(before: unknown, after: unknown): Change[] {
  const field = 'active_hours';
  if (after === undefined)
    return [{ field, sentence: 'the agent may spend at any hour; it had hours', widens: 'yes' }];
  const [was, is] = [activeMinutes(before), activeMinutes(after)];
  const added = spansWithout(is, was);
  const gone = spansWithout(was, is);
  return [
    ...(added.length === 0
      ? []
      : [{ field, sentence: `the agent may also spend ${listed(added)}`, widens: 'yes' } as const]),
    ...(gone.length === 0
      ? []
      : [{ field, sentence: `the agent may no longer spend ${listed(gone)}`, widens: 'no' } as const]),
  ];
}

interface VelocityLimit {
  name: string;
  window: string;
  window_seconds?: number;
  per?: string;
  limit_amount_minor?: number;
  limit_count?: number;
  merchants?: string[];
  action_types?: string[];
  on_exceeded?: string;
}

/** What a limit counts: two that agree in it count the same spends. */
const scopeOf = ({
  window,
  window_seconds,
  per = 'AGENT',
  merchants = [],
  action_types = [],
}: VelocityLimit) =>
  JSON.stringify([window, window_seconds ?? null, per, [...merchants].sort(), [...action_types].sort()]);

/** A limit in words: EUR 500.00 and 5 spends a day. */
function limitText(limit: VelocityLimit, authority: AuthorityFields): string {
  const { limit_amount_minor, limit_count, window, window_seconds, per = 'AGENT' } = limit;
  const numbers = [
    ...(limit_amount_minor === undefined ? [] : [moneyIn(authority, limit_amount_minor)]),
    ...(limit_count === undefined ? [] : [`${limit_count} ${limit_count === 1 ? 'spend' : 'spends'}`]),
  ];
  const time = window === 'ROLLING' ? `within ${window_seconds} s` : `a ${window.toLowerCase()}`;
  const whose = per === 'AGENT' ? '' : `, each ${per.toLowerCase()} by itself`;
  return `${numbers.join(' and ')} ${time}${whose}`;
}

/** What becomes of limits over time, each known by its name. */
export function velocityChanges(was: AuthorityFields, is: AuthorityFields): Change[] {
  const field = 'velocity_limits';
  const byName = ({ velocity_limits }: AuthorityFields) =>
    new Map(((velocity_limits ?? []) as VelocityLimit[]).map((limit) => [limit.name, limit]));
  const [before, after] = [byName(was), byName(is)];
  const changes: Change[] = [];
  for (const [name, limit] of after) {
    const old = before.get(name);
    const text = limitText(limit, is);
    if (old === undefined) {
      changes.push({ field, sentence: `the limit “${name}” is new: ${text}`, widens: 'no' });
    } else if (JSON.stringify(old) !== JSON.stringify(limit)) {
      const sentence = `the limit “${name}” goes from ${limitText(old, was)} to ${text}${exceededText(old, limit)}`;
      changes.push({ field, sentence, widens: widensLimit(old, limit, was.currency === is.currency) });
    }
  }
  for (const [name, old] of before)
    if (!after.has(name))
      changes.push({
        field,
        sentence: `the limit “${name}” is removed; it was ${limitText(old, was)}`,
        widens: 'yes',
      });
  return changes;
}

function exceededText(old: VelocityLimit, limit: VelocityLimit): string {
  const [from, to] = [old.on_exceeded ?? 'DENY', limit.on_exceeded ?? 'DENY'];
  if (from === to) return '';
  return to === 'REVIEW'
    ? '; beyond it a person reviews, what was denied'
    : '; beyond it is denied, what a person reviewed';
}

function widensLimit(old: VelocityLimit, limit: VelocityLimit, same_currency: boolean): Change['widens'] {
  if (scopeOf(old) !== scopeOf(limit) || !same_currency) return 'maybe';
  const isHigher = (from = Number.POSITIVE_INFINITY, to = Number.POSITIVE_INFINITY) => to > from;
  const is_wider =
    isHigher(old.limit_amount_minor, limit.limit_amount_minor) ||
    isHigher(old.limit_count, limit.limit_count) ||
    (old.on_exceeded !== 'REVIEW' && limit.on_exceeded === 'REVIEW');
  return is_wider ? 'yes' : 'no';
}
