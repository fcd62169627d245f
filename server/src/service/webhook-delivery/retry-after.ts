const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Returns the pause that a `Retry-After` of seconds asks for, at most an hour, whatever number it names; undefined: it asks for
 * none. A date is not read: it would be of another clock.
 */
export function retryAfterMs(value: string | string[] | undefined): number | undefined {
  if (typeof value !== 'string' || !/^\d+$/.test(value.trim())) return undefined;
  return Math.min(MAX_RETRY_AFTER_MS, Number(value) * 1_000);
}
