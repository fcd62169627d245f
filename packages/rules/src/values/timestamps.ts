/** RFC 3339 with an offset. */
const RFC_3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

const DAY_MS = 86_400_000;
/** 0001-01-01T00:00:00Z: PostgreSQL has no year 0, and the API writes years with four digits. */
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Parses an RFC 3339 timestamp into milliseconds since 1970 UTC, rounded up to a whole millisecond. Null when it has no
 * offset, is not a real date or time, or lies outside the years 1 to 9999.
 */
export function instantMs(text: string): number | null {
  const parts = RFC_3339.exec(text);
  if (parts === null) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (hour > 23 || minute > 59 || second > 59) return null;
  const midnight_ms = midnightMs(year, month, day);
  if (midnight_ms === null) return null;
  const offset_hours = Number(parts[9] ?? 0);
  const offset_minutes = Number(parts[10] ?? 0);
  if (offset_hours > 23 || offset_minutes > 59) return null;
  const offset_ms = (offset_hours * 60 + offset_minutes) * 60_000 * (parts[8] === '-' ? -1 : 1);
  // Rounded up, so that "at or after" and "before" select the right rows, which are stored in milliseconds.
  const fraction_ms = Math.ceil(Number((parts[7] ?? '').padEnd(9, '0')) / 1_000_000);
  return inRange(midnight_ms + ((hour * 60 + minute) * 60 + second) * 1000 + fraction_ms - offset_ms);
}

/**
 * Parses a bound of a list filter into the form `2026-11-21T08:30:00.000Z`. It is an RFC 3339 timestamp with offset, or a
 * date, which means the whole UTC day: as `from` its beginning, as `to` the beginning of the next day. Null for anything
 * else.
 */
export function boundOfPeriod(text: string, side: 'from' | 'to'): string | null {
  const parts = DATE.exec(text);
  let moment_ms: number | null;
  if (parts === null) {
    moment_ms = instantMs(text);
  } else {
    moment_ms = midnightMs(Number(parts[1]), Number(parts[2]), Number(parts[3]));
    if (moment_ms !== null && side === 'to') moment_ms = Math.min(moment_ms + DAY_MS, LAST_MS);
  }
  return moment_ms === null ? null : new Date(moment_ms).toISOString();
}

function midnightMs(year: number, month: number, day: number): number | null {
  const date = new Date(0);
  // Not Date.UTC, which reads the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  const is_real = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return is_real ? inRange(date.getTime()) : null;
}

function inRange(moment_ms: number): number | null {
  return moment_ms >= FIRST_MS && moment_ms <= LAST_MS ? moment_ms : null;
}
