const DAY_MS = 86_400_000;
/** More bars than this could not be told apart. */
const MAX_DAYS = 370;

/** Every UTC day from one to another, both included; the last of them where there are very many. */
export function daysBetween(first: string, last: string): string[] {
  const end_ms = Date.parse(`${last}T00:00:00Z`);
  const begin_ms = Math.max(Date.parse(`${first}T00:00:00Z`), end_ms - (MAX_DAYS - 1) * DAY_MS);
  const days: string[] = [];
  for (let at_ms = begin_ms; at_ms <= end_ms; at_ms += DAY_MS)
    days.push(new Date(at_ms).toISOString().slice(0, 10));
  return days;
}
