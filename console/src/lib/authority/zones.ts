/** A moment's local time in a zone, as the milliseconds of the same time in UTC. */
function clockOf(at_ms: number, time_zone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: time_zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).formatToParts(at_ms);
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
}

/** True if the browser knows the time zone. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

export const timeZones = (): readonly string[] => ['UTC', ...Intl.supportedValuesOf('timeZone')];

/** The local time in a zone for a form field: "2026-12-01T08:00", with seconds only if they are not zero. */
export function toLocal(at: string | undefined, time_zone: string): string {
  if (at === undefined) return '';
  return new Date(clockOf(Date.parse(at), time_zone)).toISOString().replace(/(:00)?\.000Z$/, '');
}

/**
 * Reads a form field as local time in a zone. Null if it is no time. A time that occurs twice is the earlier one; a
 * skipped time moves past the change by as much as it lies past the start of the gap.
 */
export function fromLocal(text: string, time_zone: string): string | null {
  const wanted_ms = Date.parse(`${text}Z`);
  if (Number.isNaN(wanted_ms)) return null;
  const day_ms = 86_400_000;
  // The offset is that of a day before or a day after: at most one change lies between them.
  const ahead = [wanted_ms - day_ms, wanted_ms + day_ms].map((at_ms) => clockOf(at_ms, time_zone) - at_ms);
  const fitting = ahead
    .map((by_ms) => wanted_ms - by_ms)
    .filter((at_ms) => clockOf(at_ms, time_zone) === wanted_ms);
  const at_ms = fitting.length > 0 ? Math.min(...fitting) : wanted_ms - (ahead[0] as number);
  return new Date(at_ms).toISOString();
}
