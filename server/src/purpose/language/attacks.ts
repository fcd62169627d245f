import { ATTACK_HINTS, ATTACK_MARKS } from '../data/attack-hints.ts';
import { ATTACK_PATTERNS } from '../data/attack-phrases.ts';

const MAX_HINT_WORDS = 20_000;
/** Longer words are not cached, because V8 keeps the whole text in memory for a slice of more than 12 characters. */
const MAX_HINT_LENGTH = 12;
const hintBits = new Map<string, number>();

/** The attack patterns whose matches may contain the word, one bit each. */
function hintBitsOf(word: string): number {
  const known = hintBits.get(word);
  if (known !== undefined) return known;
  const bits = ATTACK_HINTS.reduce((found, hint, i) => (hint.test(word) ? found | (1 << i) : found), 0);
  if (word.length > MAX_HINT_LENGTH) return bits;
  if (hintBits.size >= MAX_HINT_WORDS) hintBits.clear();
  hintBits.set(word, bits);
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
    return ATTACK_PATTERNS.some(({ pattern }, i) => (bits & (1 << i)) !== 0 && pattern.test(folded));
  });
}

/** The attack patterns that a folded text matches. */
export function readAttacks(
  folded: string,
): { match: RegExpExecArray; meaning: string; is_certain: boolean }[] {
  return ATTACK_PATTERNS.flatMap(({ pattern, meaning, is_certain }) => {
    const match = pattern.exec(folded);
    return match === null ? [] : [{ match, meaning, is_certain }];
  });
}
