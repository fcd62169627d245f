import { readSection, readTerms } from '@purser/purpose-data';
import { foldAmongLatin, foldLookAlikes, STROKE } from './look-alikes.ts';

/** One word of a name, folded. `spaced`: white space precedes it, and not just punctuation. */
export interface Word {
  text: string;
  spaced: boolean;
}

const ASCII = /^[\x20-\x7e]*$/;
const SPACES = /[\s\u0085]+/gu;
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
const CONTROL = /\p{Cc}/gu;
/** Trade mark signs. Compatibility decomposition would turn them into letters of the name. */
const MARKS_OF_TRADE = /[™℠®©℗]/gu;
/** The Greek lunate sigma looks like c, but compatibility decomposition would turn it into the other sigma. */
const LUNATE_SIGMA = /[ϲϹ]/gu;
const ASTERISKS = /[∗⁎✱✲٭]/gu;
/**
 * The combining marks of Latin, Greek and Cyrillic, and the points of Hebrew and Arabic. Marks of other scripts stay: they
 * are vowels in Devanagari and Thai, and distinguish が from か.
 */
const DIACRITICS = new RegExp(
  [
    '[\\u0300-\\u036f]',
    '[\\u0483-\\u0489]',
    '[\\u0591-\\u05c7]',
    '[\\u0610-\\u061a]',
    '[\\u064b-\\u065f]',
    '[\\u0670]',
    '[\\u06d6-\\u06ed]',
    '[\\u1ab0-\\u1aff]',
    '[\\u1dc0-\\u1dff]',
    '[\\u20d0-\\u20ff]',
    '[\\ufe20-\\ufe2f]',
  ].join('|'),
  'gu',
);
/** A mark on an ASCII letter or digit is always decoration. */
const DECORATION = /(?<=[A-Za-z0-9])\p{M}+/gu;
const APOSTROPHE = /(?<=[\p{L}\p{N}])['’‘‛`ʹʻʼʽ](?=[\p{L}\p{N}])/gu;
/** "S.A.", "B. V.", "A/S": single letters with periods or slashes between them are one word. */
const ABBREVIATION = /(?<![\p{L}\p{N}])\p{L}(?:[./] ?\p{L})+(?![\p{L}\p{N}])/gu;
/** The Italian legal form in its usual spellings, which "Day Spa" does not match. */
const ITALIAN_COMPANY = /[ ,](?:SpA|[Ss]\. ?[Pp]\. ?[Aa])\.? ?$/u;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

const NOT_THE_NAME = readTerms('merchant-names');
const PROCESSORS: ReadonlySet<string> = new Set(readSection(NOT_THE_NAME, 'processors'));
const PROCESSOR_PREFIX = /^ ?([a-z0-9.]{1,20}) ?\* ?/i;

const LEGAL_FORMS: ReadonlySet<string> = new Set(readSection(NOT_THE_NAME, 'legal_forms'));
/** Those of several words, each with its last word first. */
const LONG_LEGAL_FORMS = readSection(NOT_THE_NAME, 'long_legal_forms').map((form) =>
  form.split(' ').reverse(),
);

/** Full case folding, as closely as JavaScript offers it: the variants of ß, σ, ſ, İ and ı come out alike. */
export function foldCase(text: string): string {
  const folded = text.toLowerCase();
  if (ASCII.test(folded)) return folded;
  return folded.toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** A text in NFKC, without invisible characters and trade mark signs, each run of white space as one space. */
export function plainText(text: string): string {
  if (ASCII.test(text)) return text.includes('  ') ? text.replace(SPACES, ' ') : text;
  return text
    .replace(INVISIBLE, '')
    .replace(SPACES, ' ')
    .replace(CONTROL, '')
    .replace(MARKS_OF_TRADE, ' ')
    .replace(LUNATE_SIGMA, 'c')
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(ASTERISKS, '*')
    .replace(SPACES, ' ');
}

/** `plainText` without diacritics and with look-alikes replaced by Latin letters. Latin letters keep their case. */
export function latinText(plain: string): string {
  if (ASCII.test(plain)) return plain;
  const bare = plain.normalize('NFKD').replace(DIACRITICS, '');
  return foldLookAlikes(bare).replace(DECORATION, '').normalize('NFC');
}

/** Returns true if a text has letters that only look like Latin ones. */
export function hasLookAlikes(plain: string): boolean {
  if (ASCII.test(plain)) return false;
  const bare = plain.normalize('NFKD').replace(DIACRITICS, '');
  return foldLookAlikes(bare) !== bare;
}

/** The words of a `latinText` in their own case, without processor prefixes unless nothing else is left. */
function splitWords(latin: string): Word[] {
  let text = latin;
  for (;;) {
    const prefix = PROCESSOR_PREFIX.exec(text);
    if (prefix === null || !PROCESSORS.has((prefix[1] ?? '').toLowerCase())) break;
    text = text.slice(prefix[0].length);
  }
  const words = wordsOf(text);
  return words.length > 0 ? words : wordsOf(latin);
}

function wordsOf(text: string): Word[] {
  const joined = text
    .replace(ITALIAN_COMPANY, '')
    .replace(APOSTROPHE, '')
    .replace(ABBREVIATION, (letters) => letters.replace(/[./ ]/g, ''));
  const words: Word[] = [];
  let end = 0;
  for (const match of joined.matchAll(WORD)) {
    words.push({ text: match[0], spaced: joined.slice(end, match.index).includes(' ') });
    end = match.index + match[0].length;
  }
  return words;
}

/** Returns true if a text is a processor prefix and nothing else. */
export function isProcessorOnly(plain: string): boolean {
  const latin = latinText(plain).trim();
  const prefix = PROCESSOR_PREFIX.exec(latin);
  return (
    prefix !== null && prefix[0].length === latin.length && PROCESSORS.has((prefix[1] ?? '').toLowerCase())
  );
}

function foldWords(words: readonly Word[], read: (text: string) => string): Word[] {
  return words.map((word) => ({ text: foldCase(read(word.text)), spaced: word.spaced }));
}

function readPlainly(text: string): string {
  return text.includes(STROKE) ? text.replaceAll(STROKE, 'i') : text;
}

/**
 * The folded words of a name, in one or two readings. Some letters, such as Greek Ν, look like different Latin letters in
 * upper and lower case. The first reading replaces look-alikes before folding the case, as a person sees the name. The
 * second folds the case first, so that an honest Greek name is the same in either case.
 */
export function readName(plain: string): Word[][] {
  const seen = foldWords(splitWords(latinText(plain)), readPlainly);
  if (ASCII.test(plain)) return [seen];
  // The legal form SpA is recognized by its case, so it is removed before folding.
  const meant = foldWords(splitWords(latinText(foldCase(plain.replace(ITALIAN_COMPANY, '')))), readPlainly);
  return sameWords(seen, meant) ? [seen] : [seen, meant];
}

/** The reading of a name that does not depend on its case. */
export function readNameCaseless(plain: string): Word[] {
  return readName(plain).at(-1) as Word[];
}

const SUSPICIOUS = /[01|$@!¡£€¢¥\u01c0]|[a-z]I/;
const FLANKED_SIGN = /(?<=\p{L})[$@!¡](?=\p{L})/gu;
/** A currency sign next to a letter and not next to a digit: "Evi£", but not "£1 Shop". */
const SIGN_AT_LETTER = /(?<=\p{L})[£€¢¥](?!\p{N})|(?<!\p{N})[£€¢¥](?=\p{L})/gu;
const SIGNS: Readonly<Record<string, string>> = {
  $: 's',
  '@': 'a',
  '!': STROKE,
  '¡': STROKE,
  '£': 'l',
  '€': 'e',
  '¢': 'c',
  '¥': 'y',
};

/**
 * A further reading of a merchant's name that looks disguised; null for any other name. 0 is read as o. 1, |, a capital I
 * after a small letter, and letters of other scripts that are one upright stroke become `STROKE`, which stands for i or l.
 * $ @ ! ¡ between letters are read as s, a and i or l, and signs of currencies at a letter as the letter that they cross.
 * Letters of flags, and open or turned letters among Latin ones, are read as those. Only a merchant's name is read like this, never a blocked one, since
 * blocking "G00gle" must not block Google. Digits are replaced only in words with at least three letters and no other
 * digit, so that A1, F1, O2, H1, Channel 1, 10 and 101 stay as they are. 1 at the end of a word is l and not i (Maxi is not
 * Max1). Mail is never Mall: without a digit, sign or capital in the wrong place, i and l are different letters.
 */
export function readDisguised(plain: string): Word[] | null {
  const among = ASCII.test(plain) ? plain : foldAmongLatin(plain);
  const latin = latinText(among);
  if (among === plain && !SUSPICIOUS.test(latin)) return null;
  const text = latin
    .replace(FLANKED_SIGN, (sign) => SIGNS[sign] ?? sign)
    .replace(SIGN_AT_LETTER, (sign) => SIGNS[sign] ?? sign)
    .replace(/(?<=\p{L})\||\|(?=\p{L})/gu, STROKE);
  return foldWords(splitWords(text), undisguise);
}

const CAPITAL_INSIDE = /[a-z][01\u01c0]*I/;

function undisguise(word: string): string {
  const text = CAPITAL_INSIDE.test(word) ? word.replace(/(?<=[a-z][01I\u01c0]*)I/g, STROKE) : word;
  if (!/[01]/.test(text) || /[2-9]/.test(text)) return text;
  const letters = [...text.matchAll(/\p{L}/gu)];
  if (letters.length < 3) return text;
  const first = letters[0]?.index ?? 0;
  const last = letters.at(-1)?.index ?? 0;
  return text.replaceAll('0', 'o').replace(/1/g, (_, at: number) => (at > first && at < last ? STROKE : 'l'));
}

function sameWords(a: readonly Word[], b: readonly Word[]): boolean {
  return a.length === b.length && a.every((word, i) => word.text === b[i]?.text);
}

/** The words without the legal forms at the end; empty when there are no others. */
export function withoutLegalForm(words: readonly Word[]): Word[] {
  let end = words.length;
  for (;;) {
    const last = words[end - 1]?.text;
    if (last === undefined) return [];
    const long = LONG_LEGAL_FORMS.find((form) => form.every((text, i) => words[end - 1 - i]?.text === text));
    if (long !== undefined) end -= long.length;
    else if (LEGAL_FORMS.has(last)) end--;
    else return words.slice(0, end);
  }
}

/** The words without legal forms of one or two letters at the end, which make another word if joined to the name: Vi SA. */
export function withoutShortLegalForm(words: readonly Word[]): Word[] {
  let end = words.length;
  while (end > 1 && (words[end - 1]?.text.length ?? 0) <= 2 && LEGAL_FORMS.has(words[end - 1]?.text ?? ''))
    end--;
  return words.slice(0, end);
}

/** The words of a name as one text. */
export function joinWords(words: readonly Word[], separator = ''): string {
  return words.map((word) => word.text).join(separator);
}

/**
 * A name in a form for comparison: NFKC, without invisible characters, case, diacritics, punctuation, look-alikes of Latin
 * letters, processor prefixes and legal forms, with one space between words. A name that has nothing else keeps them. Not
 * for display.
 */
export function normaliseMerchant(text: string): string {
  return normalisePlain(plainText(text));
}

/** `normaliseMerchant` of a `plainText`. */
export function normalisePlain(plain: string): string {
  const words = readNameCaseless(plain);
  const name = withoutLegalForm(words);
  return joinWords(name.length > 0 ? name : words, ' ') || lightlyFolded(plain);
}

/** The form that is compared when folding leaves nothing. */
export function lightlyFolded(plain: string): string {
  return foldCase(plain).trim();
}
