import type { PaidSpend } from '../../domain/spend-facts.ts';
import type { Action } from '../../domain/spends.ts';
import { normaliseMerchant } from '../../merchants/blocklist.ts';
import { PAYS_BACK } from '../data/spend-language.ts';
import { carriesMeaning } from '../language/everyday-words.ts';
import { tokenize } from '../language/text.ts';

const DAY_MS = 86_400_000;

/** True for a request by which money goes back to where it came from. */
export const isRefund = (type: string): boolean => PAYS_BACK.test(type.toLowerCase());

/** Days between two RFC 3339 times; infinite where one is missing. */
export const daysBetween = (from: string, to: string | null): number =>
  to === null ? Number.POSITIVE_INFINITY : Math.abs(Date.parse(to) - Date.parse(from)) / DAY_MS;

/** True if both name the same payee, or the same merchant where neither names a payee. */
export const isSamePartner = (one: PaidSpend, { merchant, payee_id }: Action): boolean =>
  one.payee_id === null && payee_id === undefined
    ? isSameMerchant(one, merchant)
    : one.payee_id === (payee_id ?? null);

/** True if both names are the same after normalising. */
export const isSameMerchant = (one: PaidSpend, merchant: string): boolean =>
  normaliseMerchant(one.merchant) === normaliseMerchant(merchant);

/** The words and numbers of a description that tell what it was. */
const tellingStems = (description: string): string[] =>
  tokenize(description).flatMap((token) =>
    carriesMeaning(token) || /\d/.test(token.word) ? token.stem : [],
  );

/** True if a description has a number, as that of an invoice or an order, which no two purchases share. */
export const isNumbered = (description: string): boolean =>
  tokenize(description).some(({ word }) => /\d/.test(word));

/** True if all words and numbers of an earlier description occur in this one, so that added words hide no repetition. */
export function repeats(earlier: string, description: string): boolean {
  const now = new Set(tokenize(description).map(({ stem }) => stem));
  return tellingStems(earlier).every((stem) => now.has(stem));
}
