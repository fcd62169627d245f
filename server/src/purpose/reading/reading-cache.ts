import { LRUCache } from 'lru-cache';
import type { Authority } from '../../domain/authorities.ts';
import { TRADES } from '../language/lexicon.ts';
import { readAuthority } from './authority-reading.ts';
import type { AuthorityReading } from './authority-terms.ts';

/** What V8 takes for an object, an entry of a map or set, and a string before its characters; rounded up. */
const OBJECT_BYTES = 56;
const ENTRY_BYTES = 40;
const STRING_BYTES = 24;

const SHARED: ReadonlySet<unknown> = new Set(TRADES);

/**
 * How much memory a reading takes, in bytes, within a factor of two. What all readings share (the trades) is not counted;
 * what it refers to several times is counted once.
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

/** Readings of purposes, kept as long as there is room. */
export interface ReadingCache {
  readingOf(authority: Authority): AuthorityReading;
  /** How much memory they take now. */
  bytes(): number;
}

/**
 * Keeps readings that take `max_bytes` together, the one unused for longest out first. Reading a purpose is pure, so it
 * is remembered by its text: authorities often arrive as fresh objects. A workspace whose readings others pushed out
 * reads its purpose again, which takes it some milliseconds.
 */
export function makeReadingCache(max_bytes: number): ReadingCache {
  const readings = new LRUCache<string, AuthorityReading>({
    maxSize: max_bytes,
    sizeCalculation: (reading, text) => 2 * text.length + memoryOf(reading),
  });
  /** The text of a purpose, by its object, which nobody changes. The reading itself is kept in one place alone. */
  const texts = new WeakMap<Authority['purpose'], string>();
  return {
    readingOf(authority) {
      const { purpose } = authority;
      let text = texts.get(purpose);
      if (text === undefined) {
        const { objective, success_criteria = [], constraints = [], context = '' } = purpose;
        text = JSON.stringify([objective, success_criteria, constraints, context]);
        texts.set(purpose, text);
      }
      const known = readings.get(text);
      if (known !== undefined) return known;
      const reading = readAuthority(authority);
      readings.set(text, reading);
      return reading;
    },
    bytes: () => readings.calculatedSize,
  };
}
