import { type Decimal, parseDecimal } from '@purser/rail-events/decimals';

const BLANKS = String.raw`[ \u00a0\u202f'’]`;
const POINT = new RegExp(
  String.raw`^(?:\d{1,3}(?:(?:,|${BLANKS})\d{2,3})*(?:,|${BLANKS})\d{3}|\d+)?(?:\.\d*)?$`,
);
const COMMA = new RegExp(
  String.raw`^(?:\d{1,3}(?:(?:\.|${BLANKS})\d{2,3})*(?:\.|${BLANKS})\d{3}|\d+)?(?:,\d*)?$`,
);
const SIGN_OR_CODE = /^(?:\p{Sc}|[A-Z]{1,2}\p{Sc}|([A-Z]{3}))?\s*(.*?)\s*(?:\p{Sc}|([A-Z]{3}))?$/u;

/**
 * The number in a cell, with its sign, where `decimal` parts its cents: with groups of thousands, a currency's sign or code, a
 * minus before or behind, or in brackets as in accounting. Null for anything else, such as a code other than `currency`.
 */
export function amountInCell(cell: string, decimal: string, currency: string | null): Decimal | null {
  let text = cell.trim().replace(/[\u2212\u2013]/g, '-');
  const is_bracketed = /^\(.*\)$/.test(text);
  if (is_bracketed) text = text.slice(1, -1).trim();
  const signs = [is_bracketed];
  const strip = () => {
    signs.push(/^-|-$/.test(text));
    text = text.replace(/^[-+]|-$/, '').trim();
  };
  strip();
  const [, before, number = '', behind] = SIGN_OR_CODE.exec(text) ?? [];
  for (const code of [before, behind])
    if (code !== undefined && currency !== null && code !== currency) return null;
  text = number;
  // A minus may also stand behind the currency's sign: "$-5.00".
  if (/^[-+]|-$/.test(text)) strip();
  const form = decimal === ',' ? COMMA : POINT;
  if (!/\d/.test(text) || !form.test(text)) return null;
  const plain = text
    .replace(decimal === ',' ? /[. \u00a0\u202f'’]/g : /[, \u00a0\u202f'’]/g, '')
    .replace(',', '.')
    .replace(/^\./, '0.');
  const found = parseDecimal(plain);
  const minuses = signs.filter(Boolean).length;
  if (found === null || minuses > 1) return null;
  return minuses === 1 ? { ...found, digits: -found.digits } : found;
}
