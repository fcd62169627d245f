import type { Trade } from './data/trade-shape.ts';
import { type Token, tokenizeOnce } from './text.ts';

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

/** A phrase with its number of words. Words are compared by their stems, names of companies as they are. */
export interface Phrase {
  text: string;
  length: number;
  meaning: Meaning;
}

export interface PhraseIndex {
  meanings: ReadonlyMap<string, readonly Meaning[]>;
  /** Words that phrases of several words begin with. */
  openings: ReadonlySet<string>;
  /** How many words the longest phrase has that begins with two words. */
  longest: ReadonlyMap<string, number>;
}

/** A phrase that was found, and where. */
export interface Found {
  meaning: Meaning;
  at: number;
  length: number;
}

const meanings = new Map<string, Meaning>();

/** The one object for a meaning. */
export function meaningOf(meaning: Meaning): Meaning {
  const { trade, strong, core, kind, ordinary } = meaning;
  const name = `${trade?.id} ${strong} ${core} ${kind} ${ordinary}`;
  const known = meanings.get(name);
  if (known !== undefined) return known;
  meanings.set(name, meaning);
  return meaning;
}

/** The phrases of a list parted by `;`, in the notation of `Trade`. `more`: what holds for the list besides, by length. */
export function phrasesOf(
  list: string,
  kind: Meaning['kind'],
  trade: Trade | null,
  more: (length: number) => Partial<Pick<Meaning, 'strong' | 'core' | 'ordinary'>> = () => ({}),
): Phrase[] {
  return list
    .split(';')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => {
      const tokens = tokenizeOnce(text.replace(/^[~^]/, ''));
      const { strong = true, core = true, ordinary = false } = more(tokens.length);
      return {
        text: tokens.map((token) => (kind === 'word' ? token.stem : token.word)).join(' '),
        length: tokens.length,
        meaning: meaningOf({
          trade,
          kind,
          core,
          strong: strong && !text.startsWith('~'),
          ordinary: ordinary || text.startsWith('^'),
        }),
      };
    });
}

const alone = new Map<Meaning, readonly Meaning[]>();

/** A list of one meaning, each made once. */
function onlyOf(meaning: Meaning): readonly Meaning[] {
  const known = alone.get(meaning) ?? [meaning];
  alone.set(meaning, known);
  return known;
}

/**
 * Makes phrases ready to be found. Flat, since 40,000 phrases as a tree of maps took 25 MB more: a phrase is looked up
 * whole, from the longest that its first two words allow.
 */
export function indexPhrases(phrases: readonly Phrase[]): PhraseIndex {
  const index = new Map<string, readonly Meaning[]>();
  const openings = new Set<string>();
  const longest = new Map<string, number>();
  for (const { text, length, meaning } of phrases) {
    if (length === 0) continue;
    const known = index.get(text);
    index.set(text, known === undefined ? onlyOf(meaning) : [...known, meaning]);
    if (length === 1) continue;
    const [first = '', second = ''] = text.split(' ', 2);
    const pair = `${first} ${second}`;
    openings.add(first);
    if (length > (longest.get(pair) ?? 1)) longest.set(pair, length);
  }
  return { meanings: index, openings, longest };
}

const NONE: Found[] = [];

/**
 * The longest phrases at each place (several trades may share one); words inside a longer match are not read again.
 * Linear in the number of tokens.
 */
export function findPhrases(
  tokens: readonly Token[],
  { meanings: index, openings, longest }: PhraseIndex,
  key: 'stem' | 'word',
  accept: (meaning: Meaning, at: number, length: number) => boolean,
): readonly Found[] {
  let found = NONE;
  for (let at = 0; at < tokens.length; ) {
    const first = (tokens[at] as Token)[key];
    const left = tokens.length - at;
    let length =
      left > 1 && openings.has(first) ? Math.min(longest.get(joined(tokens, at, 2, key)) ?? 1, left) : 1;
    for (; length > 0; length -= 1) {
      const listed = index.get(length === 1 ? first : joined(tokens, at, length, key));
      if (listed === undefined) continue;
      const before = found.length;
      for (const meaning of listed) {
        if (!accept(meaning, at, length)) continue;
        if (found === NONE) found = [];
        found.push({ meaning, at, length });
      }
      if (found.length > before) break;
    }
    at += Math.max(1, length);
  }
  return found;
}

function joined(tokens: readonly Token[], at: number, length: number, key: 'stem' | 'word'): string {
  let text = (tokens[at] as Token)[key];
  for (let i = 1; i < length; i += 1) text += ` ${(tokens[at + i] as Token)[key]}`;
  return text;
}
