import type { Trade } from '../data/trades.ts';

/** The meaning of a phrase. Equal meanings are one object, because there are tens of thousands of phrases. */
export interface Meaning {
  /** Null for a general merchant. */
  trade: Trade | null;
  /** False for words that have other everyday meanings. */
  strong: boolean;
  /** True if the phrase is in the trade's own table, false if it is only in the long lists. */
  core: boolean;
  kind: 'word' | 'company';
  /** True if the name is also an ordinary word. */
  ordinary: boolean;
}

/** The second words of phrases that begin with a word, each with the length in words of the longest such phrase. */
export type Followers = ReadonlyMap<string, number>;

/** The entry of an index for a word. */
export interface Entry {
  /** Meanings of the word by itself. */
  alone: readonly Meaning[] | undefined;
  followers: Followers | undefined;
}
