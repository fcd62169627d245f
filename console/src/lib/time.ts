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

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const LOCAL_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** A time in the reader's zone. */
export const localTime = (at: string) => LOCAL.format(new Date(at));
/** A UTC day such as "2026-11-22" in the reader's format. */
export const localDay = (day: string) => LOCAL_DAY.format(new Date(`${day}T12:00:00`));

/** The UTC day of a time plus `shift_days`, in the format of `from` and `to`. */
export function utcDay(now_ms: number, shift_days = 0): string {
  return new Date(now_ms + shift_days * DAY).toISOString().slice(0, 10);
}
