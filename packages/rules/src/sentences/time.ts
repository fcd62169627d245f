import { PHRASES } from './policy.ts';

/** Units of time with their length in seconds, the longest first. */
export const TIME_UNITS = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;

/** A length of time in the largest unit that fits it: "within 10 minutes". At least a second, whole. */
export function within(window_seconds: number): string {
  const [seconds, unit] = TIME_UNITS.find(([each]) => window_seconds % each === 0) ?? [1, 'second'];
  const many = window_seconds / seconds;
  return many === 1 ? PHRASES.within_one(unit) : PHRASES.within(many, unit);
}
