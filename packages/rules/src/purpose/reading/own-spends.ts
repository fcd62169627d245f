import type { Action } from '@purser/contract/decisions';
import type { PaidSpend } from '../../domain/spend-facts.ts';
import { merchantKey, payeeKey } from '../../merchants/keys.ts';
import { normaliseMerchant } from '../../merchants/names.ts';
import { PAYS_BACK } from '../data/spend-language.ts';
import { carriesMeaning } from '../language/everyday-words.ts';
import { tokenize } from '../language/text.ts';

const DAY_MS = 86_400_000;

/** True for a type that speaks of money that goes back to where it came from, beside whatever else it says. */
export const isRefund = (type: string): boolean => PAYS_BACK.test(type.toLowerCase());

/** True for a type that says nothing else. What favours a refund asks for this, since an agent may add words to a type. */
export const isOnlyRefund = (type: string): boolean =>
  type.split(/[\s_-]+/).every((word) => PAYS_BACK.test(word.toLowerCase()));

/** False if one of two types is a refund and the other plainly none. Words added to the second never make it false. */
export const mayBeSameKind = (earlier: string, type: string): boolean =>
  isRefund(earlier) ? isRefund(type) : !isOnlyRefund(type);

/** Days between two RFC 3339 times; infinite where one is missing. */
export const daysBetween = (from: string, to: string | null): number =>
  to === null ? Number.POSITIVE_INFINITY : Math.abs(Date.parse(to) - Date.parse(from)) / DAY_MS;

/** True if both may name the same payee, or the same merchant where neither names a payee. For what restricts. */
export const maybeSamePartner = (one: PaidSpend, { merchant, payee_id }: Action): boolean => {
  if (one.payee_id === null || payee_id === undefined)
    return one.payee_id === null && payee_id === undefined && maybeSameMerchant(one, merchant);
  return payeeKey(one.payee_id) === payeeKey(payee_id);
};

/** True if both names may be those of one merchant. For what restricts. */
export const maybeSameMerchant = (one: PaidSpend, merchant: string): boolean =>
  merchantKey(one.merchant) === merchantKey(merchant);

/** True if both name the same payee, or the same merchant where neither names a payee. For what lets through. */
export const isSamePartner = (one: PaidSpend, { merchant, payee_id }: Action): boolean =>
  one.payee_id === (payee_id ?? null) && (payee_id !== undefined || isSameMerchant(one, merchant));

/** True if both names are the same after normalising. For what lets through. */
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
