import { ATTACK_PATTERNS } from '../data/attack-patterns.ts';
import { bitOf } from './screened.ts';

const BITS = ATTACK_PATTERNS.map(({ pattern }) => bitOf(pattern));
const ANY = BITS.reduce((bits, bit) => bits | bit, 0);

/** True if a text matches an attack pattern that its screen lets through. */
export function mayAttack(texts: readonly { folded: string; mayMatch(bits: number): boolean }[]): boolean {
  return texts.some(
    (text) =>
      text.mayMatch(ANY) &&
      ATTACK_PATTERNS.some(
        ({ pattern }, i) => text.mayMatch(BITS[i] ?? ANY) && text.folded.search(pattern) >= 0,
      ),
  );
}

/** All places where a folded text matches an attack pattern. */
export function readAttacks(
  folded: string,
): { match: RegExpExecArray; meaning: string; is_certain: boolean }[] {
  return ATTACK_PATTERNS.flatMap(({ pattern, meaning, is_certain }) =>
    Array.from(folded.matchAll(pattern), (match) => ({ match, meaning, is_certain })),
  );
}
