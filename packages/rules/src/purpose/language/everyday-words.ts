import { readSection, readTerms } from '@purser/purpose-data';
import { stemsOf, type Token } from './text.ts';

/** The lists of words that belong to no trade. They are read apart from the lexicon, which takes half a second to make. */
export const EVERYDAY_WORDS = readTerms('everyday-words');

/** Stems that carry no subject matter at all. */
export const COMMON_STEMS: ReadonlySet<string> = new Set(
  EVERYDAY_WORDS.get('common')?.flatMap((word) => [...stemsOf(word)]),
);
/** Grammar of other languages, which carries no subject matter either. */
const SMALL_STEMS: ReadonlySet<string> = new Set(
  EVERYDAY_WORDS.get('small_words')?.flatMap((word) => [...stemsOf(word)]),
);
/** Stems too loose to tie a purchase to a purpose by themselves. */
export const LOOSE_STEMS: ReadonlySet<string> = new Set(
  EVERYDAY_WORDS.get('loose')?.flatMap((word) => [...stemsOf(word)]),
);

const GRAMMAR = readTerms('grammar');
const stemsIn = (section: string): ReadonlySet<string> =>
  new Set(readSection(GRAMMAR, section).flatMap((word) => [...stemsOf(word)]));

/** Stems of words that all spends share; they count only if a condition demands nothing else. */
export const PAPERS = stemsIn('papers');
/** Stems of words that all spends share and that a condition may still be about: "no deposit before …". */
export const OCCASIONS = stemsIn('occasions');
/** Stems of words that only stress a prohibition: "no real fur". */
export const STRESSES = stemsIn('stresses');
/** Stems of broad words for goods or services. */
export const GOODS_CLASSES = stemsIn('goods_classes');
/** Stems of nouns of buying and packing, with which goods stay what they are: "a bottle of wine". */
export const ACQUIRING = stemsIn('acquiring');
/** Stems of common nouns that make something else of the goods before them: "shoe budget". */
export const OTHER_HEADS = stemsIn('other_heads');

/** Those of the stems that are not loose; all where there are no others. */
export function firmStems(stems: readonly string[]): readonly string[] {
  const firm = stems.filter((stem) => !LOOSE_STEMS.has(stem));
  return firm.length > 0 ? firm : stems;
}

/** True for a stem of grammar in German, Spanish or French that is none in English. */
export const isSmallWord = (stem: string): boolean => SMALL_STEMS.has(stem);
/** True for a stem of grammar, in whatever language is read. */
export const isGrammar = (stem: string): boolean => COMMON_STEMS.has(stem) || SMALL_STEMS.has(stem);

/** True for a word that says something about a subject. The answer is cached with the token. */
export function carriesMeaning(token: Token): boolean {
  token.meaning ??=
    (token.word.length > 2 || /^[\p{Script=Han}\p{Script=Katakana}ー]{1,2}$/u.test(token.word)) &&
    !/^\p{Script=Hiragana}+$/u.test(token.word) &&
    !COMMON_STEMS.has(token.stem) &&
    !COMMON_STEMS.has(token.word) &&
    !SMALL_STEMS.has(token.stem) &&
    !/^\d+$/.test(token.word);
  return token.meaning;
}

/** True for a word that tells one purchase from another: no number, no loose word and none that all spends share. */
export const isTelling = (token: Token): boolean =>
  carriesMeaning(token) &&
  !/\d/.test(token.word) &&
  ![LOOSE_STEMS, PAPERS, OCCASIONS, GOODS_CLASSES].some((stems) => stems.has(token.stem));
