import { DEFAULT_DAYS, type ReportQuery } from '@purser/contract/reports';
import { invalidField } from '@purser/rules/errors';
import type { Static } from 'typebox';

const DAY_MS = 86_400_000;
const MAX_DAYS = 366;

/** Returns the requested period. The default is the last days up to the end of today. Throws ApiError `invalid_request`. */
export function periodAsked(
  query: Pick<Static<typeof ReportQuery>, 'from' | 'to'>,
  clock_ms: number,
): { from: string; to: string } {
  const to_ms = query.to === undefined ? (Math.floor(clock_ms / DAY_MS) + 1) * DAY_MS : Date.parse(query.to);
  const from_ms =
    query.from === undefined
      ? Math.floor((to_ms - 1) / DAY_MS) * DAY_MS - (DEFAULT_DAYS - 1) * DAY_MS
      : Date.parse(query.from);
  if (from_ms >= to_ms) {
    throw query.to === undefined
      ? invalidField('from', 'must not be after today')
      : invalidField('to', 'must be after from');
  }
  if (to_ms - from_ms > MAX_DAYS * DAY_MS) {
    throw invalidField('from', `must be at most ${MAX_DAYS} days before to`);
  }
  return { from: new Date(from_ms).toISOString(), to: new Date(to_ms).toISOString() };
}
