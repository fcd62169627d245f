const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration in up to two units: "14 min", "2 h 05 min", "3 d 4 h". */
export function duration(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < MINUTE) return `${Math.floor(whole / 1000)} s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min`;
  if (whole < DAY) {
    const minutes = Math.floor((whole % HOUR) / MINUTE);
    return `${Math.floor(whole / HOUR)} h ${String(minutes).padStart(2, '0')} min`;
  }
  const hours = Math.floor((whole % DAY) / HOUR);
  return `${Math.floor(whole / DAY)} d${hours === 0 ? '' : ` ${hours} h`}`;
}

/** The distance from now: "just now", "4 min ago", "in 2 h 05 min". */
export function relative(at_ms: number, now_ms: number): string {
  const distance = now_ms - at_ms;
  if (Math.abs(distance) < 10_000) return 'just now';
  return distance > 0 ? `${duration(distance)} ago` : `in ${duration(-distance)}`;
}

const OF_READER = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Formats of a zone. Times name the zone where it is not the reader's own. */
function formatsOf(time_zone: string) {
  const name = time_zone === OF_READER ? {} : ({ timeZoneName: 'short' } as const);
  const day = { year: 'numeric', month: 'short', day: 'numeric', timeZone: time_zone } as const;
  const clock = { hour: 'numeric', minute: '2-digit' } as const;
  return {
    time_zone,
    time: new Intl.DateTimeFormat('en-US', { ...day, ...clock, ...name }),
    short: new Intl.DateTimeFormat('en-US', { ...day, ...clock }),
  };
}

let formats = formatsOf(OF_READER);

/** Sets the zone of all days and times of the page: the workspace's. A zone that the browser does not know is read as UTC. */
export function setTimeZone(time_zone: string): void {
  if (formats.time_zone === time_zone) return;
  try {
    formats = formatsOf(time_zone);
  } catch {
    formats = formatsOf('UTC');
  }
}

/** The zone of all days and times of the page. */
export const timeZone = (): string => formats.time_zone;

/** A time in the workspace's zone, which it names where it is not the reader's own: "Nov 22, 2026, 9:30 AM GMT+1". */
export const localTime = (at: string) => formats.time.format(new Date(at));

/** For lists: the distance from now within a day, otherwise day and time in the workspace's zone. */
export function listedTime(at_ms: number, now_ms: number): string {
  return Math.abs(now_ms - at_ms) < DAY ? relative(at_ms, now_ms) : formats.short.format(at_ms);
}

const NAMED_DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' });
/** A day such as "2026-11-22", whatever zone it is of, in words: "Nov 22, 2026". */
export const dayInWords = (day: string) => NAMED_DAY.format(new Date(`${day}T12:00:00Z`));

/** The UTC day of a time plus `shift_days`, in the format of `from` and `to`. */
export function utcDay(now_ms: number, shift_days = 0): string {
  return new Date(now_ms + shift_days * DAY).toISOString().slice(0, 10);
}
