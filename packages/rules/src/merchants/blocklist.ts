import { hostForms, hostsAbove, hostTokens } from './hosts.ts';
import { isLegalFormOnly, withoutRegisteredForms } from './legal-forms.ts';
import { STROKE } from './look-alikes.ts';
import {
  isProcessorOnly,
  joinWords,
  lightlyFolded,
  plainText,
  readDisguised,
  readName,
  type Word,
  withoutLegalForm,
  withoutShortLegalForm,
} from './names.ts';
import { unmasked } from './unmasked.ts';

/** Merchants' names that are remembered, up to some KB each. A cache that is full is cleared. */
const MAX_REMEMBERED = 500;
const remembered = new Map<string, MerchantName>();

/** Returns the first entry of the blocklist that matches a merchant's name, or null. */
export type BlocklistMatcher = (merchant: string) => string | null;
/** Receives the index of an entry that matches, more than once if it matches in several ways. */
type Take = (index: number) => void;
type EntriesMatcher = (merchant: string, take: Take) => void;
/** Indexes of entries by what they are found by. */
type Places = Map<string, number[]>;

/** A blocked name: its index in the list, its letters, and its words separated by one space. */
interface Candidate {
  index: number;
  letters: string;
  phrase: string;
}

/** Blocked names by `keyOf` their letters, and the ascending lengths of the keys by their first letter. */
interface NameIndex {
  names: Map<string, Candidate[]>;
  lengths: Map<string, number[]>;
}

/** One reading of a merchant's name: the letters of all words, and by position what separated the words. */
interface Reading {
  letters: string;
  key: string;
  without_legal_form: string;
  /** Length of the longest prefix that is looked up as a whole name. */
  longest_name: number;
  boundary: Uint8Array;
  /** How many significant spaces precede each position. */
  blanksBefore: Uint16Array;
  wordStart: Uint8Array;
}

/** A merchant's name, prepared for matching. */
interface MerchantName {
  plain: string;
  /** Compared with entries of which folding leaves nothing. */
  min_folded: string;
  tokens: { text: string; forms: string[] }[];
  readings: Reading[];
}

/** From this length on, spaces inside a longer name are ignored: "Evil Corp Online" contains EvilCorp. */
const LONG_ENOUGH_TO_JOIN = 6;
/** Scripts written without spaces: a word may begin and end at any character. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const compiled = new WeakMap<readonly string[], EntriesMatcher>();

/**
 * The first entry of a blocklist that matches `merchant` by the rules of `compileBlocklist`, or null. The compiled list is
 * cached for as long as the array `blocked` lives, so the array must not be changed.
 */
export function blockedBy(merchant: string, blocked: readonly string[]): string | null {
  return firstOf(blocked, merchant, matcherOf(blocked));
}

/** The indexes of all entries that match `merchant` as `blockedBy` says, ascending. The array must not be changed. */
export function allBlocking(merchant: string, blocked: readonly string[]): number[] {
  const found = new Set<number>();
  matcherOf(blocked)(merchant, (index) => found.add(index));
  return [...found].sort((a, b) => a - b);
}

function matcherOf(blocked: readonly string[]): EntriesMatcher {
  let match = compiled.get(blocked);
  if (match === undefined) {
    match = compileEntries(blocked);
    compiled.set(blocked, match);
  }
  return match;
}

function firstOf(blocked: readonly string[], merchant: string, match: EntriesMatcher): string | null {
  let first = Number.POSITIVE_INFINITY;
  match(merchant, (index) => {
    first = Math.min(first, index);
  });
  return blocked[first] ?? null;
}

/**
 * Compiles a blocklist into a matcher. An entry matches a merchant
 * - when both names are equal after normalising, spaces ignored ("EvilCorp", "E v i l Corp");
 * - when the merchant's name contains the entry's between word boundaries. Spaces inside are ignored if the name has six
 *   letters or more or is spelled in single letters; in shorter names they count, so that "Vis A Vis" does not contain Visa;
 * - when the entry is a host name (`evil.example`, `*.evil.example`, also as a URL; `www.` is dropped) and the merchant's
 *   name contains that host or a subdomain of it, also in a URL, an e-mail address or punycode. The rest of the merchant's
 *   name is searched for the host as a name ("Evil Example").
 * An entry of legal forms, processor names or punctuation alone, or of one character, blocks only a merchant of exactly
 * that name. Time per merchant does not grow with the length of the list.
 */
export function compileBlocklist(blocked: readonly string[]): BlocklistMatcher {
  const match = compileEntries(blocked);
  return (merchant) => firstOf(blocked, merchant, match);
}

function compileEntries(blocked: readonly string[]): EntriesMatcher {
  const hosts: Places = new Map();
  const exact: Places = new Map();
  const names: NameIndex = { names: new Map(), lengths: new Map() };
  const hostNames: NameIndex = { names: new Map(), lengths: new Map() };

  blocked.forEach((entry, index) => {
    const plain = plainText(entry).trim();
    // An e-mail address does not block its whole host.
    const isAddress = plain.includes('@') && !plain.includes('://');
    const forms = isAddress ? [] : hostForms(plain).map((form) => form.replace(/^www\.(?=.*\.)/, ''));
    for (const form of forms) addPlace(hosts, form, index);
    for (const form of forms) {
      for (const words of readName(form)) addName(hostNames, words, index);
    }
    const is_no_name = isProcessorOnly(plain) || isLegalFormOnly(plain);
    const bare = withoutRegisteredForms(plain);
    const readings = bare === plain ? readName(plain) : [...readName(plain), ...readName(bare)];
    for (const words of forms.length > 0 ? [] : readings) {
      const name = is_no_name ? [] : withoutLegalForm(words);
      const letters = joinWords(name);
      if (isOneCharacter(letters)) addPlace(exact, letters, index);
      else addName(names, name, index);
      if (letters === '' || isOneCharacter(joinWords(words))) {
        addPlace(exact, joinWords(words) || lightlyFolded(plain) || entry, index);
      } else {
        // Finds the name written as one word ("EvilCorp"). With spaces the name without its legal form is found anyway.
        addName(names, words, index);
      }
    }
  });
  sortLengths(names);
  sortLengths(hostNames);

  return (merchant, take) => {
    const { plain, min_folded, tokens, readings } = merchantName(merchant);
    exact.get(min_folded)?.forEach(take);
    for (const token of tokens) {
      for (const form of token.forms) for (const found of hostsAbove(hosts, form)) found.forEach(take);
    }
    for (const reading of readings) {
      exact.get(reading.letters)?.forEach(take);
      exact.get(reading.without_legal_form)?.forEach(take);
      findNames(names, reading, take);
    }
    if (hostNames.names.size > 0) {
      const hostless = tokens.reduce((text, token) => text.replace(token.text, ' '), plain);
      const rest = tokens.length === 0 ? readings : readMerchant(hostless);
      for (const reading of rest) findNames(hostNames, reading, take);
    }
  };
}

/**
 * Prepares a merchant's name for matching. The result is cached, because it depends on no list and agents pay the same
 * merchants again and again (measured: 0.3 instead of 3.4 µs for a list of three).
 */
function merchantName(merchant: string): MerchantName {
  const known = remembered.get(merchant);
  if (known !== undefined) return known;
  const plain = plainText(merchant);
  const clear = unmasked(merchant);
  const plains = clear === merchant ? [plain] : [plain, plainText(clear)];
  const name = {
    plain,
    min_folded: lightlyFolded(plain) || merchant,
    tokens: plains.flatMap((each) => (/[.。]/.test(each) ? hostTokens(each) : [])),
    readings: plains.flatMap(readMerchant),
  };
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(merchant, name);
  return name;
}

function isOneCharacter(text: string): boolean {
  return text.length > 0 && text.length <= 2 && [...text].length === 1;
}

function addPlace(places: Places, key: string, index: number): void {
  const found = places.get(key);
  if (found === undefined) places.set(key, [index]);
  else if (found.at(-1) !== index) found.push(index);
}

function readMerchant(plain: string): Reading[] {
  const disguised = readDisguised(plain);
  const readings = disguised === null ? readName(plain) : [...readName(plain), disguised];
  return readings.map(layOut);
}

/** Maps i, l and the stroke to one letter, so that one look-up finds them all; `reads` then distinguishes them. */
function keyOf(letters: string): string {
  return letters.replaceAll('i', 'l').replaceAll(STROKE, 'l');
}

/** Returns true if letters with the same key can be read as those of a blocked name. */
function reads(letters: string, blockedLetters: string): boolean {
  if (letters === blockedLetters) return true;
  if (!letters.includes(STROKE)) return false;
  for (let i = 0; i < letters.length; i++) {
    if (letters[i] !== blockedLetters[i] && letters[i] !== STROKE) return false;
  }
  return true;
}

function addName(into: NameIndex, words: readonly Word[], index: number): void {
  const letters = joinWords(words);
  if (letters === '' || isOneCharacter(letters)) return;
  const phrase = joinWords(words, ' ');
  const key = keyOf(letters);
  const candidates = into.names.get(key);
  if (candidates === undefined) into.names.set(key, [{ index, letters, phrase }]);
  else if (!candidates.some((each) => each.index === index && each.phrase === phrase)) {
    candidates.push({ index, letters, phrase });
  }
  const first = key.charAt(0);
  const lengths = into.lengths.get(first);
  if (lengths === undefined) into.lengths.set(first, [key.length]);
  else if (!lengths.includes(key.length)) lengths.push(key.length);
}

function sortLengths(index: NameIndex): void {
  for (const lengths of index.lengths.values()) lengths.sort((a, b) => a - b);
}

/** Takes the blocked names that equal the merchant's or are contained in it. */
function findNames(index: NameIndex, reading: Reading, found: Take): void {
  if (index.names.size === 0) return;

  const { letters, key, boundary, blanksBefore, wordStart } = reading;
  const take = (start: number, end: number, phrase: string | null) => {
    for (const candidate of index.names.get(key.slice(start, end)) ?? []) {
      if (phrase !== null && !reads(phrase, candidate.phrase)) continue;
      if (reads(letters.slice(start, end), candidate.letters)) found(candidate.index);
    }
  };

  const least = reading.without_legal_form.length;
  for (let end = reading.longest_name; end > 0 && end >= least; end--) {
    if (end === letters.length || wordStart[end] === 1) take(0, end, null);
  }
  for (let start = 0; start < letters.length; start++) {
    if (boundary[start] !== 1) continue;
    for (const length of index.lengths.get(key.charAt(start)) ?? []) {
      const end = start + length;
      if (end > letters.length) break;
      if (boundary[end] !== 1) continue;
      const blanks = (blanksBefore[end] ?? 0) - (blanksBefore[start + 1] ?? 0);
      const joinable = blanks === 0 || length >= LONG_ENOUGH_TO_JOIN;
      take(start, end, joinable ? null : phraseOf(letters, wordStart, start, end));
    }
  }
}

/** Joins words into a reading. */
function layOut(words: readonly Word[]): Reading {
  const letters = joinWords(words);
  const boundary = new Uint8Array(letters.length + 1);
  const wordStart = new Uint8Array(letters.length + 1);
  const blanksBefore = new Uint16Array(letters.length + 2);
  const blank = new Uint8Array(letters.length + 1);
  let at = 0;
  words.forEach((word, i) => {
    boundary[at] = 1;
    wordStart[at] = 1;
    const spelledOut = isOneCharacter(word.text) && isOneCharacter(words[i - 1]?.text ?? '');
    if (word.spaced && !spelledOut) blank[at] = 1;
    if (UNSPACED.test(word.text)) {
      let inside = at;
      for (const character of word.text) {
        if (UNSPACED.test(character)) {
          boundary[inside] = 1;
          boundary[inside + character.length] = 1;
        }
        inside += character.length;
      }
    }
    at += word.text.length;
  });
  boundary[at] = 1;
  for (let i = 0; i <= letters.length; i++) blanksBefore[i + 1] = (blanksBefore[i] ?? 0) + (blank[i] ?? 0);
  return {
    letters,
    key: keyOf(letters),
    without_legal_form: joinWords(withoutLegalForm(words)),
    longest_name: joinWords(withoutShortLegalForm(words)).length,
    boundary,
    blanksBefore,
    wordStart,
  };
}

function phraseOf(letters: string, wordStart: Uint8Array, start: number, end: number): string {
  let phrase = '';
  for (let i = start; i < end; i++) {
    if (i > start && wordStart[i] === 1) phrase += ' ';
    phrase += letters.charAt(i);
  }
  return phrase;
}
