import type { Entry } from './meanings.ts';

/** One word of a text. */
export interface Token {
  /** As written, after NFKC. */
  raw: string;
  /** Lower case, without diacritics. */
  word: string;
  /** The form in which words are compared; see `stemWord`. */
  stem: string;
  /** Cache of `carriesMeaning`; null until it is called. */
  meaning: boolean | null;
  /** Cache: its entries of the lasting phrase indexes, by their places; null until one is looked up. */
  entries: (Entry | undefined)[] | null;
}

/** A longer text is cut here, in UTF-16 code units, because time must be bounded on bodies of up to 64 KiB. */
export const MAX_TEXT_LENGTH = 4_000;
/**
 * Limit for the growth of a text in NFKD, beyond which it is cut. Korean becomes up to three times as long, a single
 * ligature (U+FDFA) 18 times.
 */
const MAX_GROWTH = 3;
const ALWAYS_READ = 200;
const longestDecomposed = (text: string) => MAX_GROWTH * text.length + ALWAYS_READ;

/**
 * Limits for all texts of a request or purpose together. A character beyond ASCII counts three times in `max_size`, as in
 * UTF-8, because folding it costs about that much more; one that stands for a phrase counts as much as its decomposition.
 */
export interface ReadingBudget {
  max_words: number;
  max_size: number;
}

const MARKS = /\p{M}+/gu;
const WORDS = /[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}]|[&+'’](?=\p{L}))*/gu;
const ASCII_WORDS = /[A-Za-z0-9](?:[A-Za-z0-9]|[&+'](?=[A-Za-z]))*/g;
/** Scripts that set no blanks between words: a change of script is taken for the end of a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** A text without these has as many words as `tokenize` gives. */
const PARTED = /['’\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const ONE_SCRIPT =
  /[\p{Script=Han}々]+|\p{Script=Hiragana}+|[\p{Script=Katakana}ー]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]+/gu;
const ASCII_ONLY = /^[\x20-\x7e\n\t]*$/;

/**
 * Folds a text into one spelling: compatibility forms, lower case, no diacritics, runs of white space as one space or one
 * line break, typographic quotes and dashes as their ASCII forms. A text that `isTooLong` is cut.
 */
export function foldText(text: string): string {
  const cut = text.length > MAX_TEXT_LENGTH ? text.slice(0, MAX_TEXT_LENGTH) : text;
  so_far.characters += cut.length;
  if (ASCII_ONLY.test(cut))
    return /\n|\t| {2}/.test(cut)
      ? cut
          .toLowerCase()
          .replace(/[ \t]+/g, ' ')
          .replace(/ ?\n[ \n]*/g, '\n')
      : cut.toLowerCase();
  return foldWord(cut)
    .replace(/[‘’‚′]/g, "'")
    .replace(/[“”„″«»]/g, '"')
    .replace(/[‐-―−]/g, '-')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n');
}

/** A character of which NFKD makes more than three letters: at most eight, but 18 of U+FDFA. */
const PHRASE =
  /[\u1f82-\u1faf\u2057\u2152\u2167\u2177\u247d-\u2487\u2a0c\u321d\u321e\u327c\u327d\u3300-\u3357\u337f\u3389\u33a8\u33ae-\u33af\u33c2\u33c6\u33d8\ufdf2-\ufdfc]/;
const PHRASES = new RegExp(PHRASE, 'g');
const LONG_PHRASE = 8;
const MAX_PHRASE = 18;

/** True if a text is longer, as it is or in NFKD, than what is read of it. */
export function isTooLong(text: string): boolean {
  if (text.length > MAX_TEXT_LENGTH) return true;
  return PHRASE.test(text) && text.normalize('NFKD').length > longestDecomposed(text);
}

/** Size in the sense of `ReadingBudget`. Decomposes nothing, because the size bounds that work. */
function sizeOf(text: string): number {
  let size = text.length;
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > 0x7f) size += 2;
  if (size === text.length) return size;
  for (const sign of text.match(PHRASES) ?? []) size += (sign === '\ufdfa' ? MAX_PHRASE : LONG_PHRASE) - 3;
  return size;
}

/** The text that this process has read. It only grows, and no assessment depends on it: it prices them. */
const so_far = { characters: 0, words: 0 };

/** Returns the characters that were folded so far, and the words, each time that one was looked up. */
export const readSoFar = (): Readonly<typeof so_far> => so_far;

/** `tokenize` splits words at apostrophes, and at changes of script. */
const partsIn = (word: string): number =>
  (/['’]/.test(word) ? word.split(/['’]/).length : 1) +
  (UNSPACED.test(word) ? (word.match(ONE_SCRIPT)?.length ?? 1) - 1 : 0);

/** The beginning of a text that fits into the room, in whole words. */
function beginningOf(text: string, room: ReadingBudget): { text: string; words: number; size: number } {
  const words = ASCII_ONLY.test(text) ? ASCII_WORDS : WORDS;
  const whole_size = sizeOf(text);
  if (whole_size <= room.max_size) {
    // Most texts fit, and counting words is a fraction of the work of finding where to cut.
    const all = text.match(words) ?? [];
    const count = PARTED.test(text) ? all.reduce((sum, word) => sum + partsIn(word), 0) : all.length;
    if (count <= room.max_words) return { text, words: count, size: whole_size };
  }
  let read = 0;
  let end = 0;
  let size = 0;
  for (const { 0: word, index } of text.matchAll(words)) {
    const parts = partsIn(word);
    const grown = size + sizeOf(text.slice(end, index + word.length));
    if (read + parts > room.max_words || grown > room.max_size)
      return { text: text.slice(0, end), words: read, size };
    read += parts;
    size = grown;
    end = index + word.length;
  }
  return { text: text.slice(0, end), words: read, size: room.max_size };
}

/**
 * The texts as far as the budget goes, in their order. The first that exceeds it is cut, and those after it are empty.
 * `cut` tells that it happened.
 */
export function withinBudget(
  texts: readonly string[],
  budget: ReadingBudget,
): { texts: readonly string[]; cut: boolean } {
  const { max_words, max_size } = budget;
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  // A word and the space after it take at least two characters, so the words of short texts need not be counted. Scripts
  // without blanks may change at each character.
  const least = texts.some((text) => UNSPACED.test(text)) ? 1 : 2;
  const most = texts.some((text) => PHRASE.test(text)) ? MAX_PHRASE : 3;
  if (most * length <= max_size && length <= least * max_words) return { texts, cut: false };
  const room = { max_words, max_size };
  let cut = false;
  const read = texts.map((text) => {
    if (cut || text === '') return '';
    const beginning = beginningOf(text, room);
    room.max_words -= beginning.words;
    room.max_size -= beginning.size;
    cut = beginning.text.length < text.length;
    return beginning.text;
  });
  return { texts: read, cut };
}

/** Letters that no decomposition takes apart. */
const UNDECOMPOSED = /[ßøłæœ]/g;
const SPELLED_OUT: Readonly<Record<string, string>> = { ß: 'ss', ø: 'o', ł: 'l', æ: 'ae', œ: 'oe' };

/** A word or text in lower case and without diacritics; `ß` becomes `ss`. It is cut if it grows too long in NFKD. */
function foldWord(word: string): string {
  if (ASCII_ONLY.test(word)) return word.toLowerCase();
  const folded = word.normalize('NFKD').slice(0, longestDecomposed(word)).replace(MARKS, '').toLowerCase();
  return folded.replace(UNDECOMPOSED, (letter) => SPELLED_OUT[letter] ?? letter);
}

/**
 * The form in which words are compared: the singular by Harman's S-stemmer ("How effective is suffixing?", JASIS 42,
 * 1991). A stronger stemmer would conflate words that a purpose distinguishes ("earrings" and "ear").
 */
export function stemWord(word: string): string {
  if (word.length < 4 || !word.endsWith('s')) return word;
  if (word.endsWith('ies')) return /[ae]ies$/.test(word) ? word : `${word.slice(0, -3)}y`;
  if (word.endsWith('sses') || word.endsWith('xes') || word.endsWith('ches') || word.endsWith('shes')) {
    return word.slice(0, -2);
  }
  return word.endsWith('ss') || word.endsWith('us') || word.endsWith('is') ? word : word.slice(0, -1);
}

/**
 * Cache of tokens, emptied when it is full; it took a median spend from 70 to 55 µs. Tokens do not know their position,
 * so all occurrences of a word share one. Longer words are not cached, because V8 keeps the whole text in memory for a
 * slice of more than 12 characters.
 */
const MAX_WORDS = 20_000;
const MAX_CACHED_LENGTH = 12;
const words = new Map<string, Token>();

function readWord(raw: string): Token | undefined {
  const word = foldWord(raw);
  return word === '' ? undefined : { raw, word, stem: stemWord(word), meaning: null, entries: null };
}

function tokenOf(raw: string): Token | undefined {
  const known = words.get(raw);
  if (known !== undefined) return known;
  const token = readWord(raw);
  if (token === undefined) return undefined;
  if (raw.length > MAX_CACHED_LENGTH) return token;
  if (words.size >= MAX_WORDS) words.clear();
  words.set(raw, token);
  return token;
}

/**
 * The words of a text, in order. An apostrophe inside a word splits it (`joe's` → `joe`, `s`), `&` and `+` do not. Equal
 * short words usually share one object across texts, so compare `word` or `stem`, never identity.
 */
export function tokenize(text: string): Token[] {
  return tokensIn(text, tokenOf);
}

/** The text before each of the tokens that `tokenize` gave for a text, back to the token before it. */
export function gapsIn(text: string, tokens: readonly Token[]): string[] {
  let end = 0;
  return tokens.map(({ raw }) => {
    const at = text.indexOf(raw, end);
    const gap = text.slice(end, at);
    end = at + raw.length;
    return gap;
  });
}

/** Like `tokenize`, for a text that is read only once: its words are not cached. */
export function tokenizeOnce(text: string): Token[] {
  return tokensIn(text, readWord);
}

function tokensIn(text: string, read: (raw: string) => Token | undefined): Token[] {
  if (text === '') return [];
  const cut = text.length > MAX_TEXT_LENGTH ? text.slice(0, MAX_TEXT_LENGTH) : text;
  const tokens: Token[] = [];
  const unspaced = UNSPACED.test(cut);
  const words = cut.match(ASCII_ONLY.test(cut) ? ASCII_WORDS : WORDS) ?? [];
  so_far.words += words.length;
  for (const found of unspaced ? words.flatMap((word) => word.match(ONE_SCRIPT) ?? []) : words) {
    for (const raw of found.includes("'") || found.includes('’') ? found.split(/['’]/) : [found]) {
      const token = read(raw);
      if (token !== undefined) tokens.push(token);
    }
  }
  return tokens;
}

/** The stems of a list of words or phrases, split at `separator`; for data tables. */
export function stemsOf(list: string, separator: RegExp = /\s+/): Set<string> {
  return new Set(
    list
      .split(separator)
      .map((entry) => stemWord(foldWord(entry.trim())))
      .filter((stem) => stem !== ''),
  );
}
