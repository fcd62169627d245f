import type { Trade } from '../data/trades.ts';
import type { Entry, Followers, Meaning } from './meanings.ts';
import { type Token, tokenizeOnce } from './text.ts';

/** A phrase and its number of words, as indexed: the stems of ordinary words, or the words of a company's name. */
export interface Phrase {
  text: string;
  length: number;
  meaning: Meaning;
}

export interface PhraseIndex {
  /** The form of a word that is looked up. */
  form: 'stem' | 'word';
  /** Index in `Token.entries` where a token caches its entry of this index; null if entries are not cached. */
  place: number | null;
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

const meanings = new Map<string, Meaning>();

/** Returns the shared object of equal meanings. */
function meaningOf(meaning: Meaning): Meaning {
  const { trade, strong, core, kind, ordinary } = meaning;
  const name = `${trade?.id} ${strong} ${core} ${kind} ${ordinary}`;
  const known = meanings.get(name);
  if (known !== undefined) return known;
  meanings.set(name, meaning);
  return meaning;
}

/** Words are compared by their stems, names of companies as they are. */
const FORM_OF = { word: 'stem', company: 'word' } as const;

/** Parses the phrases of a list, in the notation of its head. `more`: further properties by number of words. */
export function phrasesOf(
  list: readonly string[],
  kind: Meaning['kind'],
  trade: Trade | null,
  more: (length: number) => Partial<Pick<Meaning, 'strong' | 'core' | 'ordinary'>> = () => ({}),
): Phrase[] {
  return list.map((text) => {
    const tokens = tokenizeOnce(text.replace(/^[~^]/, ''));
    const { strong = true, core = true, ordinary = false } = more(tokens.length);
    return {
      text: tokens.map((token) => token[FORM_OF[kind]]).join(' '),
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

/** Returns the shared list of one meaning. */
function onlyOf(meaning: Meaning): readonly Meaning[] {
  const known = alone.get(meaning) ?? [meaning];
  alone.set(meaning, known);
  return known;
}

/** Number of indexes whose entries are cached with the tokens. */
let places = 0;

/**
 * Indexes phrases of one kind. The index is flat because 40,000 phrases as a tree of maps took 25 MB more: a phrase is
 * looked up as a whole, beginning with the longest that its first two words allow. `is_lasting`: the index lives as long
 * as the process, so tokens cache their entries of it.
 */
export function indexPhrases(
  phrases: readonly Phrase[],
  { kind, is_lasting }: { kind: Meaning['kind']; is_lasting: boolean },
): PhraseIndex {
  const index = new Map<string, readonly Meaning[]>();
  const openings = new Map<string, Map<string, number>>();
  for (const { text, length, meaning } of phrases) {
    if (length === 0) continue;
    const known = index.get(text);
    index.set(text, known === undefined ? onlyOf(meaning) : [...known, meaning]);
    if (length === 1) continue;
    const [first = '', second = ''] = text.split(' ', 2);
    const followers = openings.get(first) ?? new Map<string, number>();
    openings.set(first, followers.set(second, Math.max(length, followers.get(second) ?? 1)));
  }
  return {
    form: FORM_OF[kind],
    place: is_lasting ? places++ : null,
    meanings: index,
    openings,
  };
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
  const { place, form } = index;
  if (place === null) return lookUp(token[form], index);
  token.entries ??= new Array<Entry | undefined>(places);
  const known = token.entries[place];
  if (known !== undefined) return known;
  const entry = lookUp(token[form], index);
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
  const { form, meanings: phrases } = index;
  let found = NONE;
  for (let at = 0; at < tokens.length; ) {
    const { alone, followers } = entryOf(tokens[at] as Token, index);
    const next = tokens[at + 1];
    const longest = followers === undefined || next === undefined ? 1 : (followers.get(next[form]) ?? 1);
    let length = Math.min(longest, tokens.length - at);
    for (; length > 0; length -= 1) {
      const listed = length === 1 ? alone : phrases.get(joined(tokens, at, length, form));
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

function joined(tokens: readonly Token[], at: number, length: number, form: PhraseIndex['form']): string {
  let text = (tokens[at] as Token)[form];
  for (let i = 1; i < length; i += 1) text += ` ${(tokens[at + i] as Token)[form]}`;
  return text;
}
