import { encodeTime, monotonicFactory } from 'ulid';

/** What an id names: the prefix every id of that kind begins with. */
export const ID_PREFIXES = {
  workspace: 'ws',
  agent: 'agt',
  api_key: 'key',
  decision: 'dec',
  reservation: 'rsv',
  capability: 'cap',
  review: 'rev',
  label: 'lbl',
  outcome: 'out',
  event: 'evt',
  audit: 'aud',
  webhook: 'wh',
  delivery: 'dlv',
  request: 'req',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

/** Makes ids; given to whatever needs them, so that tests can foretell them. */
export type NewId = (kind: IdKind) => string;

/** The smallest id of a kind that could have been made at `time_ms`; a bound for range scans by time. */
export function firstIdAt(kind: IdKind, time_ms: number): string {
  return `${ID_PREFIXES[kind]}_${encodeTime(Math.max(0, time_ms), 10)}${'0'.repeat(16)}`;
}

/**
 * Ids of one moment: prefix + 26 characters (ULID) that sort by creation time, and within `time_ms` by the
 * order in which they were made. `random` gives numbers from 0 up to 1.
 */
export function makeIdsAt(time_ms: number, random: () => number): NewId {
  const next = monotonicFactory(random);
  return (kind) => `${ID_PREFIXES[kind]}_${next(time_ms)}`;
}

/** Whether a text has the form of an id of that kind. */
export function isId(kind: IdKind, text: string): boolean {
  return text.startsWith(`${ID_PREFIXES[kind]}_`) && /^[a-z]+_[0-9A-HJKMNP-TV-Z]{26}$/.test(text);
}
