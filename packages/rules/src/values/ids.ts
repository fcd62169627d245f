import { hash } from 'node:crypto';
import { ID_PREFIXES, type IdKind } from '@purser/contract/ids';
import { decodeTime, encodeTime, monotonicFactory } from 'ulid';

/** Makes ids. It is injected, so that tests can predict them. */
export type NewId = (kind: IdKind) => string;

/** The smallest id of a kind that could be made at `time_ms`; a bound for range scans by time. */
export function firstIdAt(kind: IdKind, time_ms: number): string {
  return `${ID_PREFIXES[kind]}_${encodeTime(Math.max(0, time_ms), 10)}${'0'.repeat(16)}`;
}

/** The time in an id, ms; null where the text is none. */
export function timeOfId(id: string): number | null {
  const time = /^[a-z]{2,4}_([0-7][0-9A-HJKMNP-TV-Z]{9})[0-9A-HJKMNP-TV-Z]{16}$/.exec(id)?.[1];
  return time === undefined ? null : decodeTime(`${time}${'0'.repeat(16)}`);
}

/**
 * Makes ids for one timestamp: prefix + 26 characters (ULID), which sort by time and then by the order in which they were
 * made. `random` returns numbers from 0 up to, but not including, 1.
 */
export function makeIdsAt(time_ms: number, random: () => number): NewId {
  const next = monotonicFactory(random);
  return (kind) => `${ID_PREFIXES[kind]}_${next(time_ms)}`;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The id of a kind that follows from a time and a text, so that making it twice gives the same id. */
export function derivedId(kind: IdKind, time_ms: number, text: string): string {
  const bytes = hash('sha256', text, 'buffer');
  const tail = Array.from({ length: 16 }, (_, i) => CROCKFORD[(bytes[i] as number) % 32]).join('');
  return firstIdAt(kind, time_ms).slice(0, -16) + tail;
}
