import { instantOfLocal, type LocalDateTime } from '@purser/rules/values/calendar';
import { instantMs } from '@purser/rules/values/timestamps';

/** Reads times written in one way. `has_time`: the way says the time of the day, too. */
export interface TimeReader {
  has_time: boolean;
  /** The time in ms, 12:00 UTC where the way has no time of day; null for a text that is not written like this. */
  read: (text: string) => number | null;
}

const TOKENS: Readonly<Record<string, string>> = {
  YYYY: String.raw`(?<year>\d{4})`,
  YY: String.raw`(?<short>\d{2})`,
  MM: String.raw`(?<month>\d{1,2})`,
  DD: String.raw`(?<day>\d{1,2})`,
  HH: String.raw`(?<hour>\d{1,2})`,
  mm: String.raw`(?<minute>\d{2})`,
  ss: String.raw`(?<second>\d{2})(?:[.,]\d{1,9})?`,
};
const TOKEN = /YYYY|YY|MM|DD|HH|mm|ss/g;
const BETWEEN = /^[-/. :T,]*$/;

/** Ways to write times that are no patterns. */
const NAMED: Readonly<Record<string, TimeReader>> = {
  RFC3339: { has_time: true, read: (text) => instantMs(text.replace(/^(\S{10}) /, '$1T')) },
  UNIX: {
    has_time: true,
    read: (text) => (/^\d{1,12}$/.test(text) ? Number(text) * 1000 : null),
  },
};

/** A real date and time in UTC, ms; null for a date that there is not. */
function utcMs({ year, month, day, hour, minute, second }: LocalDateTime): number | null {
  const time = new Date(0);
  time.setUTCFullYear(year, month - 1, day);
  if (time.getUTCMonth() !== month - 1 || time.getUTCDate() !== day) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  return time.getTime() + ((hour * 60 + minute) * 60 + second) * 1000;
}

/**
 * Makes the reader of a format of YYYY, YY, MM, DD, HH, mm and ss with signs between them, or of `RFC3339` or `UNIX`. Null: it is
 * none. Two digits of a year are of this century.
 */
export function makeTimeReader(format: string, zone: string): TimeReader | null {
  if (Object.hasOwn(NAMED, format)) return NAMED[format] as TimeReader;
  const tokens = format.match(TOKEN) ?? [];
  if (format.length > 40 || !BETWEEN.test(format.replace(TOKEN, ''))) return null;
  const has = (token: string) => (tokens as readonly string[]).includes(token);
  if (new Set(tokens).size !== tokens.length || !has('MM') || !has('DD') || has('YYYY') === has('YY'))
    return null;
  const has_time = has('HH');
  if ((has('mm') && !has_time) || (has('ss') && !has('mm'))) return null;
  let source = '';
  let at = 0;
  for (const { index, 0: token } of format.matchAll(TOKEN)) {
    source += format.slice(at, index).replace(/[.]/g, '\\.') + TOKENS[token];
    at = index + token.length;
  }
  const pattern = new RegExp(`^${source}${format.slice(at).replace(/[.]/g, '\\.')}$`);
  return {
    has_time,
    read(text) {
      const groups = pattern.exec(text)?.groups;
      if (groups === undefined) return null;
      const part = (name: string) => Number(groups[name] ?? 0);
      const parts = {
        year: groups.year === undefined ? 2000 + part('short') : part('year'),
        month: part('month'),
        day: part('day'),
        hour: has_time ? part('hour') : 12,
        minute: part('minute'),
        second: part('second'),
      };
      return has_time && zone !== 'UTC' ? instantOfLocal(parts, zone) : utcMs(parts);
    },
  };
}
