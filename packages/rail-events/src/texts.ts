import { TEXT_LENGTHS } from '@purser/contract/limits';
import { refuse } from './read-line.ts';

/** 13 to 19 digits, which blanks, points or dashes may part, and no further digit or letter beside them. */
const CARD_NUMBER = /(?<![\p{L}\p{N}])\p{Nd}(?:[ \u00a0.\-‐‑–]?\p{Nd}){12,18}(?![\p{L}\p{N}])/gu;

/** True if the last digit checks the others, as of every card number. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0 && !/^0+$/.test(digits);
}

/** The text with only the last four digits of each card number in it, also of one in wide digits. */
export function maskCardNumbers(text: string): string {
  if (!/\p{Nd}[^\p{L}]{11,}\p{Nd}/u.test(text)) return text;
  return text.replace(CARD_NUMBER, (found) => {
    const digits = found.normalize('NFKC').replace(/[^0-9]/g, '');
    return digits.length >= 13 && hasCheckDigit(digits) ? `****${digits.slice(-4)}` : found;
  });
}

/** A line of text fit to be stored: one line, in NFC, without control characters or card numbers, cut to `max`. Null: nothing is left. */
export function storable(value: unknown, max: number): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value)
    .replace(/\p{Surrogate}/gu, '\ufffd')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace
    .replace(/[\x00-\x1f\x7f-\x9f\s]+/g, ' ')
    .normalize('NFC')
    .trim();
  const points = [...maskCardNumbers(text)];
  return points.length === 0 ? null : points.slice(0, max).join('').trim();
}

/** Refs and instruments may be this long. */
export const MAX_REFERENCE = 200;

/** A vendor's own name of something. */
export const reference = (value: unknown): string | null => storable(value, MAX_REFERENCE);

/** A description or category. */
export const words = (value: unknown): string | null => storable(value, TEXT_LENGTHS.description);

/** A merchant's name; refused where there is none, or where its bytes could not be read. */
export function merchantName(value: unknown, column: string): string {
  const text = storable(value, TEXT_LENGTHS.merchant);
  if (text === null) return refuse('MERCHANT', column, 'is empty');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is never part of a name
  if (/[\x00\ufffd]/.test(String(value)))
    return refuse('MERCHANT', column, 'has bytes that its encoding does not have');
  return text;
}

const PAYEE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}:[!-~]{1,200}$/;

/** The payee or instrument of a rail, `<rail>:<id>`; blanks in the id are dropped. Null: there is none, or it cannot be one. */
export function onRail(rail: string, value: unknown): string | null {
  const id = reference(value);
  if (id === null) return null;
  const named = `${rail}:${id.replaceAll(/\s+/g, '_')}`;
  return PAYEE.test(named) ? named : null;
}

/** A payee or instrument as it is, where it has the form `<rail>:<id>`; otherwise one of the rail. */
export function namedOnRail(rail: string, value: unknown): string | null {
  const text = reference(value);
  if (text === null) return null;
  return PAYEE.test(text) ? text : onRail(rail, text);
}
