import type { Entry } from './meanings.ts';

/** One word of a text. */
export interface Token {
  /** As written, after NFKC. */
  raw: string;
  /** Lower case, without diacritics. */
  word: string;
  /** What `word` is compared by. */
  stem: string;
  /** Whether it says something about a subject; null until the lexicon is asked. */
  meaning: boolean | null;
  /** The company whose name it nearly spells, or null; undefined until asked. */
  near_company: string | null | undefined;
  /** What the lasting phrase indexes say of it, by their places; null until one is asked. */
  entries: (Entry | undefined)[] | null;
}

/** Nothing longer than this is read: a request's body is at most 64 KiB, and time must be bounded on any input. */
export const MAX_TEXT_LENGTH = 4_000;
/**
 * How much longer than itself a text may become in NFKD: Korean becomes up to three times as long, a single ligature
 * (U+FDFA) 18 times. What goes beyond is not read.
 */
const MAX_GROWTH = 3;
const ALWAYS_READ = 200;
const longestDecomposed = (text: string) => MAX_GROWTH * text.length + ALWAYS_READ;

/**
 * How much is read of all texts that belong together. A character beyond ASCII counts three times, as in UTF-8: folding
 * it costs that much more.
 */
export interface ReadingBudget {
  max_words: number;
  max_size: number;
}

const MARKS = /\p{M}+/gu;
const WORDS = /[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}]|[&+'’](?=\p{L}))*/gu;
const ASCII_WORDS = /[A-Za-z0-9](?:[A-Za-z0-9]|[&+'](?=[A-Za-z]))*/g;
const ASCII_ONLY = /^[\x20-\x7e\n\t]*$/;

/**
 * Text in one spelling: NFKC, lower case, no diacritics, runs of white space as one space (a line break stays one
 * line break), typographic quotes and dashes as their ASCII forms. Of what `isTooLong` the rest is left out.
 */
export function foldText(text: string): string {
  const cut = text.length > MAX_TEXT_LENGTH ? text.slice(0, MAX_TEXT_LENGTH) : text;
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

/** Whether a text is longer, as it is or in NFKD, than what is read of it. */
export function isTooLong(text: string): boolean {
  if (text.length > MAX_TEXT_LENGTH) return true;
  return !ASCII_ONLY.test(text) && text.normalize('NFKD').length > longestDecomposed(text);
}

const BEYOND_ASCII = /[\u0080-\uffff]/g;
const sizeOf = (text: string): number =>
  ASCII_ONLY.test(text) ? text.length : text.length + 2 * (text.match(BEYOND_ASCII)?.length ?? 0);

/** Of a text the words that there is room for, from its beginning. */
function beginningOf(text: string, room: ReadingBudget): { text: string; words: number; size: number } {
  const words = text.matchAll(ASCII_ONLY.test(text) ? ASCII_WORDS : WORDS);
  let read = 0;
  let end = 0;
  let size = 0;
  for (const { 0: word, index } of words) {
    // An apostrophe parts a word.
    const parts = word.split(/['’]/).length;
    const grown = size + sizeOf(text.slice(end, index + word.length));
    if (read + parts > room.max_words || grown > room.max_size)
      return { text: text.slice(0, end), words: read, size };
    read += parts;
    size = grown;
    end = index + word.length;
  }
  size += sizeOf(text.slice(end));
  return size > room.max_size
    ? { text: text.slice(0, end), words: read, size: room.max_size }
    : { text, words: read, size };
}

/**
 * The texts as far as the budget goes, in their order: of the first that goes beyond it only the beginning is left, and
 * of all after it nothing.
 */
export function withinBudget(
  texts: readonly string[],
  budget: ReadingBudget,
): { texts: readonly string[]; cut: boolean } {
  const { max_words, max_size } = budget;
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  // Each word takes two characters with what parts it from the next, so short texts need not be counted.
  if (3 * length <= max_size && length <= 2 * max_words) return { texts, cut: false };
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

/** One word (or text) in lower case and without diacritics; `ß` becomes `ss`. Cut where `isTooLong` says so. */
export function foldWord(word: string): string {
  if (ASCII_ONLY.test(word)) return word.toLowerCase();
  return word
    .normalize('NFKD')
    .slice(0, longestDecomposed(word))
    .replace(MARKS, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ø', 'o')
    .replaceAll('ł', 'l')
    .replaceAll('æ', 'ae')
    .replaceAll('œ', 'oe');
}

/**
 * The form by which two words count as the same: the singular by Harman's S-stemmer ("How effective is suffixing?",
 * JASIS 42, 1991). A stronger stemmer would join words that a purpose keeps apart ("earrings" and "ear").
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
 * Words read lately. A token says nothing about its place, so all its places share one; emptied when full.
 * Took a median spend from 70 to 55 µs. Longer words are not kept: a piece of a text of more than 12 characters keeps
 * the whole text in memory.
 */
const MAX_WORDS = 20_000;
const MAX_KEPT_LENGTH = 12;
const words = new Map<string, Token>();

function readWord(raw: string): Token | undefined {
  const word = foldWord(raw);
  return word === ''
    ? undefined
    : { raw, word, stem: stemWord(word), meaning: null, near_company: undefined, entries: null };
}

function tokenOf(raw: string): Token | undefined {
  const known = words.get(raw);
  if (known !== undefined) return known;
  const token = readWord(raw);
  if (token === undefined) return undefined;
  if (raw.length > MAX_KEPT_LENGTH) return token;
  if (words.size >= MAX_WORDS) words.clear();
  words.set(raw, token);
  return token;
}

/**
 * The words of a text, in order. An apostrophe inside a word parts it (`joe's` → `joe`, `s`), `&` and `+` do not.
 * Equal short words are mostly one object, whatever text they come from; compare `word` or `stem`.
 */
export function tokenize(text: string): Token[] {
  return tokensIn(text, tokenOf);
}

/** The same for a text that is read only once: its words are not kept. */
export function tokenizeOnce(text: string): Token[] {
  return tokensIn(text, readWord);
}

function tokensIn(text: string, read: (raw: string) => Token | undefined): Token[] {
  if (text === '') return [];
  const cut = text.length > MAX_TEXT_LENGTH ? text.slice(0, MAX_TEXT_LENGTH) : text;
  const tokens: Token[] = [];
  for (const found of cut.match(ASCII_ONLY.test(cut) ? ASCII_WORDS : WORDS) ?? []) {
    for (const raw of found.includes("'") || found.includes('’') ? found.split(/['’]/) : [found]) {
      const token = read(raw);
      if (token !== undefined) tokens.push(token);
    }
  }
  return tokens;
}

/** The stems of a list of phrases or words, `separator` between entries; for data tables. */
export function stemsOf(list: string, separator: RegExp = /\s+/): Set<string> {
  return new Set(
    list
      .split(separator)
      .map((entry) => stemWord(foldWord(entry.trim())))
      .filter((stem) => stem !== ''),
  );
}
