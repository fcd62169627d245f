import { readTerms } from '@purser/purpose-data';
import { ATTACK_PATTERNS } from '../data/attack-patterns.ts';
import {
  DENIED,
  OWN_AFFAIR,
  SAYS_PAID,
  SAYS_PENDING,
  SAYS_SPLIT,
  SOMEBODYS,
} from '../data/spend-language.ts';
import { type Needed, neededText } from './needed-text.ts';
import { makeScreen, type Screen } from './screen.ts';

/** The patterns of what a request says outright. A further one only has to be named here. */
export const OUTRIGHT: readonly RegExp[] = [
  DENIED,
  OWN_AFFAIR,
  SAYS_PAID,
  SAYS_PENDING,
  SAYS_SPLIT,
  SOMEBODYS,
];
const SCREENED = [...ATTACK_PATTERNS.map(({ pattern }) => pattern), ...OUTRIGHT];

const BITS: ReadonlyMap<RegExp, number> = new Map(SCREENED.map((pattern, i) => [pattern, 1 << i]));
/** The bit of every other pattern, which is set for all texts. */
const OTHERS = 1 << 30;

/** The bit of a pattern in what `screened` returns. */
export const bitOf = (pattern: RegExp): number => BITS.get(pattern) ?? OTHERS;

/** Marks that stand for a word in attacks: `[system]`, `</system>`, `<|…|>`. */
const ATTACK_MARKS = ['[', '<'];

/** Reads what the attack patterns need from their list: a mark, how a word begins, or a whole word. */
function neededOfAttacks(): readonly (readonly Needed[])[] {
  const hints = readTerms('attack-hints');
  return ATTACK_PATTERNS.map(({ id }) => [
    ...ATTACK_MARKS.map((text) => ({ text, starts_word: false, ends_word: false })),
    ...(hints.get(id) ?? []).map((hint) => ({
      text: hint.replace('$', ''),
      starts_word: true,
      ends_word: hint.endsWith('$'),
    })),
  ]);
}

let screen: Screen | undefined;

/** Returns the bits of the patterns that may match a folded text; the bit of one that matches is always set. */
export function screened(folded: string): number {
  if (folded === '') return OTHERS;
  screen ??= makeScreen([...neededOfAttacks(), ...OUTRIGHT.map(neededText)]);
  return screen(folded) | OTHERS;
}
