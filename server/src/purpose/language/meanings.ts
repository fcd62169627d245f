import type { Trade } from '../data/trades.ts';

/** What a phrase of a table stands for. Equal meanings are one object, since there are tens of thousands of phrases. */
export interface Meaning {
  /** No trade: a general merchant. */
  trade: Trade | null;
  /** False for words with other everyday meanings. */
  strong: boolean;
  /** From the trade's own table, and not from the long lists. */
  core: boolean;
  kind: 'word' | 'company';
  /** The name is an ordinary word too. */
  ordinary: boolean;
}

/** The words that phrases go on with after a word, each with the number of words of the longest such phrase. */
export type Followers = ReadonlyMap<string, number>;

/** What an index says of a word. */
export interface Entry {
  /** What the word means alone. */
  alone: readonly Meaning[] | undefined;
  followers: Followers | undefined;
}
