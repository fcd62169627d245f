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

/** Words that may accompany a company's name without making it the name of another company. */
export const NAME_COMPANIONS = stemsOf(
  'inc ltd limited llc gmbh ag sa sas sarl srl bv nv plc corp corporation co company kg se ab oy as pty spa online shop store stores com de fr nl es it ch at uk us eu net org io www http https europe emea deutschland germany france uk ireland luxembourg international global group ads cloud the boutique official payments',
);

/** True for a word that says something about a subject. The answer is cached with the token. */
export function carriesMeaning(token: Token): boolean {
  token.meaning ??=
    token.word.length > 2 &&
    !COMMON_STEMS.has(token.stem) &&
    !COMMON_STEMS.has(token.word) &&
    !/^\d+$/.test(token.word);
  return token.meaning;
}
