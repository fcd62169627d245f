/** From it everything secret is derived, so it has to be as hard to guess as a 256-bit key. */
export const SECRET_KEY_MIN_BYTES = 32;

/**
 * Of random keys, the first and the second rule refuse less than one in 2^69, the third less than one in 2^120, and the
 * last two one in 2^62 each: together less than one in 2^60.
 */
const MIN_DIFFERENT_BYTES = 13;
/** Letters, digits and what stands between words: 66 of 256 bytes. */
const TEXT_BYTES = /^[A-Za-z0-9 _\-\n]+$/;
/** How much likelier, as a power of two, a text has to be as written words than as random letters. */
const WORDS_BITS = 62;

/** Frequencies of a to z in English, per thousand. */
const LETTERS = [
  82, 15, 28, 43, 127, 22, 20, 61, 70, 1.5, 8, 40, 24, 67, 75, 19, 1, 60, 63, 91, 28, 10, 24, 1.5, 20, 0.7,
];
const LETTERS_SUM = LETTERS.reduce((sum, one) => sum + one, 0);
/** How often written words have a small letter, a capital, a digit, and one of the two other signs of base64. */
const SMALL = 0.9;
const CAPITAL = 0.03;
const DIGIT = 0.02;
const OTHER = 0.05;

function likelihood(sign: string): number {
  const letter = (of: string) => (LETTERS[sign.charCodeAt(0) - of.charCodeAt(0)] as number) / LETTERS_SUM;
  if (/[a-z]/.test(sign)) return SMALL * letter('a');
  if (/[A-Z]/.test(sign)) return CAPITAL * letter('A');
  return /\d/.test(sign) ? DIGIT / 10 : OTHER / 2;
}

/**
 * Returns true if a base64 text was written rather than drawn: as words it is 2^62 times as likely as by chance. By
 * Markov's inequality, random texts of any length are that with a probability below 2^-62. The last sign, which may
 * stand for a few bits only, is left out.
 */
function isWritten(base64: string): boolean {
  let bits = 0;
  for (const sign of base64.slice(0, -1)) bits += 6 + Math.log2(likelihood(sign));
  return bits >= WORDS_BITS;
}

function repeatsItself(bytes: Buffer): boolean {
  for (let period = 1; period * 2 <= bytes.length; period++) {
    if (bytes.subarray(period).equals(bytes.subarray(0, -period))) return true;
  }
  return false;
}

/**
 * The sign that a key is not random, to follow "it "; null if there is none. A random key is refused with a
 * probability below 2^-60. `base64`: the digits it was written in; null when it was hexadecimal.
 */
export function weaknessOf(bytes: Buffer, base64: string | null): string | null {
  const steps = bytes.subarray(1).map((byte, i) => byte - (bytes[i] as number));
  if (new Set(bytes).size < MIN_DIFFERENT_BYTES) return 'consists of very few different bytes';
  if (new Set(steps).size < MIN_DIFFERENT_BYTES) return 'follows a pattern';
  if (repeatsItself(bytes)) return 'repeats itself';
  if (TEXT_BYTES.test(bytes.toString('latin1')) || (base64 !== null && isWritten(base64))) {
    return 'is made of words or typed letters';
  }
  return null;
}
