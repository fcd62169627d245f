import type { Authority } from '@purser/contract/authority';
import { LRUCache } from 'lru-cache';
import type { VouchingAllowance } from '../../domain/spend-facts.ts';
import { TRADES } from '../data/trades.ts';
import { readAuthority, readBeside } from './authority-reading.ts';
import type { AuthorityReading } from './authority-terms.ts';

/** Memory that V8 uses for an object, an entry of a map or set, and a string without its characters; rounded up. */
const OBJECT_BYTES = 56;
const ENTRY_BYTES = 40;
const STRING_BYTES = 24;

const NONE: readonly VouchingAllowance[] = [];
const SHARED: ReadonlySet<unknown> = new Set(TRADES);

/**
 * Estimates the memory of a reading, in bytes, within a factor of two. Values that all readings share (the trades) are not
 * counted, and repeated references are counted once.
 */
function memoryOf(reading: AuthorityReading): number {
  const seen = new Set<unknown>();
  let bytes = 0;
  const left: unknown[] = [reading];
  while (left.length > 0) {
    const value = left.pop();
    if (SHARED.has(value) || seen.has(value)) continue;
    if (typeof value === 'string') {
      seen.add(value);
      bytes += STRING_BYTES + value.length;
    } else if (typeof value === 'object' && value !== null) {
      seen.add(value);
      bytes += OBJECT_BYTES;
      const parts =
        value instanceof Map
          ? [...value.keys(), ...value.values()]
          : value instanceof Set || Array.isArray(value)
            ? [...value]
            : Object.values(value);
      bytes += ENTRY_BYTES * parts.length;
      for (const part of parts) left.push(part);
    }
  }
  return bytes;
}

/** A cache of readings of purposes. */
export interface ReadingCache {
  /** `allowances`: those whose words are read beside the authority's. */
  readingOf(authority: Authority, allowances?: readonly VouchingAllowance[]): AuthorityReading;
  /** Estimated memory of the cached readings. */
  bytes(): number;
}

/**
 * Makes a cache of at most `max_bytes` that evicts the least recently used reading. Readings are found by the text of the
 * purpose and the currency of its sums, because authorities often arrive as new objects. Reading an evicted purpose again takes some milliseconds.
 */
export function makeReadingCache(max_bytes: number): ReadingCache {
  const readings = new LRUCache<string, AuthorityReading>({
    maxSize: max_bytes,
    sizeCalculation: (reading, text) => 2 * text.length + memoryOf(reading),
  });
  /** Texts by purpose, which is never mutated. The readings themselves must stay in the bounded cache alone. */
  const texts = new WeakMap<Authority['purpose'], string>();
  const read = (key: string, make: () => AuthorityReading): AuthorityReading => {
    const known = readings.get(key);
    if (known !== undefined) return known;
    const reading = make();
    readings.set(key, reading);
    return reading;
  };
  return {
    readingOf(authority, allowances = NONE) {
      const { purpose, currency } = authority;
      let text = texts.get(purpose);
      if (text === undefined) {
        const { objective, success_criteria = [], constraints = [], context = '', reading = {} } = purpose;
        text = JSON.stringify([objective, success_criteria, constraints, context, reading]);
        texts.set(purpose, text);
      }
      const key = `${currency} ${text}`;
      const own = read(key, () => readAuthority(authority));
      const words = allowances.flatMap(({ purpose: sentence, expected_items }) =>
        sentence === undefined ? [] : [[sentence, expected_items ?? []]],
      );
      if (words.length === 0) return own;
      return read(`${key} ${JSON.stringify(words)}`, () => readBeside(own, allowances, currency));
    },
    bytes: () => readings.calculatedSize,
  };
}

/** The reading of a long purpose takes some hundred kilobytes, that of an ordinary one some tens. */
const MAX_READINGS_BYTES = 64_000_000;

/** The reading of an authority, kept for all that judge by it or show it. */
export const { readingOf } = makeReadingCache(MAX_READINGS_BYTES);
