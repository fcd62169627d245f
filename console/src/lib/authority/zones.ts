/** A moment by the clocks of a zone, as the parts that a field for it holds. */
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

/** Whether the browser knows a time zone by this name. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The names of time zones that the browser offers. */
export const timeZones = (): readonly string[] => ['UTC', ...Intl.supportedValuesOf('timeZone')];

/** A moment as it stands in a field by the clocks of a zone: "2026-12-01T08:00". Seconds only where there are some. */
export function toLocal(at: string | undefined, time_zone: string): string {
  if (at === undefined) return '';
  return new Date(clockOf(Date.parse(at), time_zone)).toISOString().replace(/(:00)?\.000Z$/, '');
}

/**
 * The moment that a field means by the clocks of a zone; null for what is none. A time that comes twice is the earlier; one
 * that the clocks skip is as long after the change as it would be after its hour.
 */
export function fromLocal(text: string, time_zone: string): string | null {
  const wanted_ms = Date.parse(`${text}Z`);
  if (Number.isNaN(wanted_ms)) return null;
  const day_ms = 86_400_000;
  // The zone is ahead by what it was a day before or a day after: between them lies at most one change.
  const ahead = [wanted_ms - day_ms, wanted_ms + day_ms].map((at_ms) => clockOf(at_ms, time_zone) - at_ms);
  const fitting = ahead
    .map((by_ms) => wanted_ms - by_ms)
    .filter((at_ms) => clockOf(at_ms, time_zone) === wanted_ms);
  const at_ms = fitting.length > 0 ? Math.min(...fitting) : wanted_ms - (ahead[0] as number);
  return new Date(at_ms).toISOString();
}
