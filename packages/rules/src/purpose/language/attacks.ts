import { readTerms } from '@purser/purpose-data';
import { ATTACK_PATTERNS } from '../data/attack-patterns.ts';

/** Marks that stand for a word: `[system]`, `</system>`, `<|…|>`. */
const ATTACK_MARKS = /[[<]/;

/** How a word begins, or the whole word, and the bit of the pattern that it may belong to. */
interface Hint {
  start: string;
  is_whole: boolean;
  bit: number;
}

/** By the first two letters, since most words share them with no hint. */
const HINTS = new Map<number, Hint[]>();
const keyOf = (word: string): number => word.charCodeAt(0) * 128 + (word.charCodeAt(1) || 0);
const HINTS_BY_PATTERN = readTerms('attack-hints');
ATTACK_PATTERNS.forEach(({ id }, i) => {
  for (const term of HINTS_BY_PATTERN.get(id) ?? []) {
    const hint = { start: term.replace('$', ''), is_whole: term.endsWith('$'), bit: 1 << i };
    const key = keyOf(hint.start);
    HINTS.set(key, [...(HINTS.get(key) ?? []), hint]);
  }
});

/** The attack patterns whose matches may contain the word, one bit each. */
function hintBitsOf(word: string): number {
  let bits = 0;
  for (const { start, is_whole, bit } of HINTS.get(keyOf(word)) ?? []) {
    if (is_whole ? word === start : word.startsWith(start)) bits |= bit;
  }
  return bits;
}

/**
 * True if a text matches an attack pattern. A pattern runs only on texts with a word that all its matches contain, which
 * took a median spend from 47 to 39 µs.
 */
export function mayAttack(texts: readonly { folded: string }[]): boolean {
  return texts.some(({ folded }) => {
    let bits = ATTACK_MARKS.test(folded) ? -1 : 0;
    for (const word of folded.match(/[a-z]+/g) ?? []) bits |= hintBitsOf(word);
    return (
      bits !== 0 &&
      ATTACK_PATTERNS.some(({ pattern }, i) => (bits & (1 << i)) !== 0 && folded.search(pattern) >= 0)
    );
  });
}

/** All places where a folded text matches an attack pattern. */
export function readAttacks(
  folded: string,
): { match: RegExpExecArray; meaning: string; is_certain: boolean }[] {
  return ATTACK_PATTERNS.flatMap(({ pattern, meaning, is_certain }) =>
    Array.from(folded.matchAll(pattern), (match) => ({ match, meaning, is_certain })),
  );
}
