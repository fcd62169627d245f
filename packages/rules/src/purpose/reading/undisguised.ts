import { foldLookAlikes, STROKE } from '../../merchants/look-alikes.ts';
import { MAX_TEXT_LENGTH } from '../language/text.ts';

const ASCII_ONLY = /^[\x20-\x7e\n\t]*$/;
/** Characters that show as nothing: joiners, zero-width spaces, soft hyphens, tags, fillers, selectors. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
/** Characters allowed before a joiner that a script or an emoji needs. */
const TAKES_JOINER =
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}]|\ufe0f/u;
/** Characters allowed before a direction mark, in right-to-left scripts. */
const TAKES_DIRECTION = /[\p{Script=Hebrew}\p{Script=Arabic}\p{P}\s\d]/u;
const RUN_OF_LETTERS = /[\p{L}\p{M}]+/gu;
const LATIN = /\p{Script=Latin}/u;
const LIKE_LATIN = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
/** Without the Greek letters that stand beside Latin ones in units and formulas. */
const POSES_AS_LATIN =
  /(?![µμΩΔ])[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
/** Small capitals: phonetic letters that read like a capital. */
const SMALL_CAPITALS = /[\u1d00-\u1d22\u0262\u026a\u0274\u0280\u028f\u0299\u029c\u029f\ua730\ua731]/u;
/** A text without any of these, as most are, hides nothing behind its characters: one pass instead of three. */
const SUSPICIOUS =
  /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\u1d00-\u1d22\u0262\u026a\u0274\u0280\u028f\u0299\u029c\u029f\ua730\ua731]/u;
/** Four or more single letters with one sign between each: "w i n e", "w-i-n-e". */
const SPELLED = /(?<![\p{L}\p{N}'’-])\p{L}(?:([ .·_*-])\p{L})(?:\1\p{L}){2,}(?![\p{L}\p{N}])/gu;

/** How a text hides its words, and the words that it hides. */
export interface Disguise {
  /** The text as a person reads it. */
  text: string;
  /** Why it looks disguised, as a clause: "invisible characters (U+200B)"; null for an honest text. */
  how: string | null;
}

const MAX_SPELLED = 24;
const MIN_WORD = 4;

/** All words of four letters or more within spelled letters, so that letters put before or behind hide none. */
function partsOf(letters: string): string[] {
  const read = letters.slice(0, MAX_SPELLED);
  const parts = new Set<string>();
  for (let from = 0; from + MIN_WORD <= read.length; from += 1) {
    for (let to = from + MIN_WORD; to <= read.length; to += 1) parts.add(read.slice(from, to));
  }
  return [...parts];
}

const nameOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** The first invisible character that neither script nor emoji needs. */
function hiddenIn(text: string): string | undefined {
  for (const { 0: sign, index } of text.matchAll(INVISIBLE)) {
    const before = [...text.slice(Math.max(0, index - 2), index)].at(-1) ?? '';
    if (/[\ufe0e\ufe0f]/.test(sign)) continue;
    if (/[\u200c\u200d]/.test(sign) && TAKES_JOINER.test(before)) continue;
    if (/[\u200e\u200f\u061c]/.test(sign) && TAKES_DIRECTION.test(before)) continue;
    return sign;
  }
  return undefined;
}

/**
 * A text as a person reads it: without invisible characters, words of mixed alphabets or small capitals in Latin letters,
 * and words that are spelled letter by letter added at the end as words. Honest text of any script comes back as it is.
 */
export function undisguised(text: string): Disguise {
  let how: string | null = null;
  let read = text;
  if (!ASCII_ONLY.test(text) && SUSPICIOUS.test(text)) {
    const visible = read.replace(INVISIBLE, '');
    if (visible.length < read.length) {
      const hidden = hiddenIn(read);
      if (hidden !== undefined) how = `invisible characters (${nameOf(hidden)})`;
      read = visible;
    }
    if (LIKE_LATIN.test(read) || SMALL_CAPITALS.test(read)) {
      read = read.replace(RUN_OF_LETTERS, (run) => {
        if (ASCII_ONLY.test(run)) return run;
        const is_mixed = LATIN.test(run) && POSES_AS_LATIN.test(run);
        if (!is_mixed && !SMALL_CAPITALS.test(run)) return run;
        how ??= is_mixed ? 'letters of several alphabets within one word' : 'small capitals';
        return foldLookAlikes(run).replaceAll(STROKE, 'i');
      });
    }
  }
  const spelled = read.match(SPELLED);
  if (spelled === null) return { text: read, how };
  for (const letters of spelled) {
    // One word has up to 231 parts, and nothing behind that length is read.
    if (read.length > MAX_TEXT_LENGTH) break;
    read += ` ; ${partsOf(letters.replace(/[^\p{L}]/gu, '')).join(' ; ')}`;
  }
  return { text: read, how: how ?? 'words spelled letter by letter' };
}
