import { readTerms } from '../data/read-data.ts';
import { stemsOf, type Token } from './text.ts';

/** The lists of words that belong to no trade. They are read apart from the lexicon, which takes half a second to make. */
export const EVERYDAY_WORDS = readTerms('everyday-words');

/** Stems that carry no subject matter at all. */
export const COMMON_STEMS: ReadonlySet<string> = new Set(
  EVERYDAY_WORDS.get('common')?.flatMap((word) => [...stemsOf(word)]),
);
/** Stems too loose to tie a purchase to a purpose by themselves. */
export const LOOSE_STEMS: ReadonlySet<string> = new Set(
  EVERYDAY_WORDS.get('loose')?.flatMap((word) => [...stemsOf(word)]),
);

/** Those of the stems that are not loose; all where there are no others. */
export function firmStems(stems: readonly string[]): readonly string[] {
  const firm = stems.filter((stem) => !LOOSE_STEMS.has(stem));
  return firm.length > 0 ? firm : stems;
}

/** True for a word that says something about a subject. The answer is cached with the token. */
export function carriesMeaning(token: Token): boolean {
  token.meaning ??=
    (token.word.length > 2 || /^[\p{Script=Han}\p{Script=Katakana}ー]{1,2}$/u.test(token.word)) &&
    !/^\p{Script=Hiragana}+$/u.test(token.word) &&
    !COMMON_STEMS.has(token.stem) &&
    !COMMON_STEMS.has(token.word) &&
    !/^\d+$/.test(token.word);
  return token.meaning;
}
