import type { Trade } from '../data/trades.ts';
import type { Entry, Followers, Meaning } from './meanings.ts';
import { type Token, tokenizeOnce } from './text.ts';

/** A phrase and its number of words, indexed by its stems. */
export interface Phrase {
  text: string;
  length: number;
  meaning: Meaning;
}

export interface PhraseIndex {
  /** Index in `Token.entries` where a token caches its entry of this index. */
  place: number;
  meanings: ReadonlyMap<string, readonly Meaning[]>;
  /** Phrases of several words, by their first word. */
  openings: ReadonlyMap<string, Followers>;
}

/** A phrase found in a text, and where. */
export interface PhraseMatch {
  meaning: Meaning;
  at: number;
  length: number;
}

/** Parses the phrases of a list, in the notation of its head. */
export function phrasesOf(list: readonly string[], trade: Trade | null): Phrase[] {
  const [plain, hinting] = [true, false].map((strong): Meaning => ({ trade, strong })) as [Meaning, Meaning];
  return list.map((text) => {
    const tokens = tokenizeOnce(text.replace(/^~/, ''));
    return {
      text: tokens.map(({ stem }) => stem).join(' '),
      length: tokens.length,
      meaning: text.startsWith('~') ? hinting : plain,
    };
  });
}

/** Number of indexes whose entries are cached with the tokens. */
let places = 0;

/** Indexes phrases. The index lives as long as the process, so tokens cache their entries of it. */
export function indexPhrases(phrases: readonly Phrase[]): PhraseIndex {
  const index = new Map<string, readonly Meaning[]>();
  const openings = new Map<string, Map<string, number>>();
  for (const { text, length, meaning } of phrases) {
    if (length === 0) continue;
    const known = index.get(text);
    index.set(text, known === undefined ? [meaning] : [...known, meaning]);
    if (length === 1) continue;
    const [first = '', second = ''] = text.split(' ', 2);
    const followers = openings.get(first) ?? new Map<string, number>();
    openings.set(first, followers.set(second, Math.max(length, followers.get(second) ?? 1)));
  }
  return { place: places++, meanings: index, openings };
}

const NONE: PhraseMatch[] = [];
const NO_ENTRY: Entry = { alone: undefined, followers: undefined };

function lookUp(word: string, { meanings: index, openings }: PhraseIndex): Entry {
  const alone = index.get(word);
  const followers = openings.get(word);
  return alone === undefined && followers === undefined ? NO_ENTRY : { alone, followers };
}

/** Cached with the token, because most words are in no phrase: reading a spend took 15 instead of 21 µs. */
function entryOf(token: Token, index: PhraseIndex): Entry {
  const { place } = index;
  token.entries ??= new Array<Entry | undefined>(places);
  const known = token.entries[place];
  if (known !== undefined) return known;
  const entry = lookUp(token.stem, index);
  token.entries[place] = entry;
  return entry;
}

/**
 * The longest phrase at each place that `accept` takes, once per meaning; words inside a match are not matched again. With
 * `every` all of them: in what an agent writes, words that are added behind one must not hide it. Takes time linear in the
 * number of tokens.
 */
export function findPhrases(
  tokens: readonly Token[],
  index: PhraseIndex,
  accept: (meaning: Meaning, at: number, length: number) => boolean,
  every = false,
): readonly PhraseMatch[] {
  const { meanings: phrases } = index;
  let found = NONE;
  for (let at = 0; at < tokens.length; ) {
    const { alone, followers } = entryOf(tokens[at] as Token, index);
    const next = tokens[at + 1];
    const longest = followers === undefined || next === undefined ? 1 : (followers.get(next.stem) ?? 1);
    let length = Math.min(longest, tokens.length - at);
    for (; length > 0; length -= 1) {
      const listed = length === 1 ? alone : phrases.get(joined(tokens, at, length));
      if (listed === undefined) continue;
      const before = found.length;
      for (const meaning of listed) {
        if (!accept(meaning, at, length)) continue;
        if (found === NONE) found = [];
        found.push({ meaning, at, length });
      }
      if (!every && found.length > before) break;
    }
    at += every ? 1 : Math.max(1, length);
  }
  return found;
}

function joined(tokens: readonly Token[], at: number, length: number): string {
  let text = (tokens[at] as Token).stem;
  for (let i = 1; i < length; i += 1) text += ` ${(tokens[at + i] as Token).stem}`;
  return text;
}
