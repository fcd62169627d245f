const DAY_MS = 86_400_000;
/** More bars would be too thin to distinguish. */
const MAX_DAYS = 370;

/** Every UTC day from `first` to `last`, inclusive. Only the last days if there are too many. */
export function daysBetween(first: string, last: string): string[] {
  const end_ms = Date.parse(`${last}T00:00:00Z`);
  const begin_ms = Math.max(Date.parse(`${first}T00:00:00Z`), end_ms - (MAX_DAYS - 1) * DAY_MS);
  const days: string[] = [];
  for (let at_ms = begin_ms; at_ms <= end_ms; at_ms += DAY_MS)
    days.push(new Date(at_ms).toISOString().slice(0, 10));
  return days;
}

/** Adjacent days that share a bar. */
export interface Bucket {
  from: string;
  to: string;
  allow: number;
  review: number;
  deny: number;
}

/** Groups the days of a period into at most `max` buckets of equal size. Only the last may be smaller. */
export function bucketsOf(
  days: readonly { day: string; allow: number; review: number; deny: number }[],
  from: string,
  to: string,
  max: number,
): Bucket[] {
  const span = daysBetween(from, to);
  const size = Math.max(1, Math.ceil(span.length / max));
  const by_day = new Map(days.map((each) => [each.day, each]));
  const buckets: Bucket[] = [];
  for (let at = 0; at < span.length; at += size) {
    const part = span.slice(at, at + size);
    const bucket = { from: part[0] as string, to: part.at(-1) as string, allow: 0, review: 0, deny: 0 };
    for (const day of part) {
      const counts = by_day.get(day);
      for (const kind of ['allow', 'review', 'deny'] as const) bucket[kind] += counts?.[kind] ?? 0;
    }
    buckets.push(bucket);
  }
  return buckets;
}
