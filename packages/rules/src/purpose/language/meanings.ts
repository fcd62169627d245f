import type { Trade } from '../data/trades.ts';

/** The meaning of a phrase. */
export interface Meaning {
  /** Null for a phrase of no trade. */
  trade: Trade | null;
  /** False for words that have other everyday meanings. */
  strong: boolean;
}

/** The second words of phrases that begin with a word, each with the length in words of the longest such phrase. */
export type Followers = ReadonlyMap<string, number>;

/** The entry of an index for a word. */
export interface Entry {
  /** Meanings of the word by itself. */
  alone: readonly Meaning[] | undefined;
  followers: Followers | undefined;
}
