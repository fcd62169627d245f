import { utcTime } from '../calendar.ts';
import type { Remedy } from '../decisions.ts';
import { formatMoney } from '../money.ts';

/** A function has no branches, so that the golden file of sentences has a row for each. */
export const REMEDIES = {
  smaller: (amount: string) => `Request ${amount} or less.`,
  later: (time: string) => `Request it again from ${time} on, if the agent spends nothing else before.`,
  other_currency: (currency: string) => `Request the same number in ${currency}.`,
  other_merchant: () => 'Choose another merchant.',
  allowance: (amount: string) => `Request an allowance of ${amount}.`,
  review: () => 'Wait for a reviewer.',
  operator: () => 'Ask an administrator to change the policy.',
  then_allowed: () => 'The policy would then allow it.',
  then_reviewed: () => 'A reviewer would then decide.',
};

function firstSentence(remedy: Remedy, currency: string, timeOf: (time: string) => string): string {
  switch (remedy.type) {
    case 'REDUCE_AMOUNT':
      return REMEDIES.smaller(formatMoney(remedy.max_amount_minor, currency));
    case 'RETRY_AT':
      return REMEDIES.later(timeOf(remedy.at));
    case 'USE_CURRENCY':
      return REMEDIES.other_currency(remedy.currency);
    case 'CHOOSE_OTHER_MERCHANT':
      return REMEDIES.other_merchant();
    case 'REQUEST_ALLOWANCE':
      return REMEDIES.allowance(formatMoney(remedy.amount_minor, currency));
    case 'WAIT_FOR_REVIEW':
      return REMEDIES.review();
    case 'ASK_OPERATOR':
      return REMEDIES.operator();
  }
}

/**
 * A remedy in words: what to do, and how the request would then be decided. `currency` is the request's. `timeOf` writes
 * an ISO time; by default in UTC.
 */
export function remedySentence(
  remedy: Remedy,
  currency: string,
  timeOf: (time: string) => string = (time) => utcTime(Date.parse(time)),
): string {
  const first = firstSentence(remedy, currency, timeOf);
  if (remedy.type === 'WAIT_FOR_REVIEW' || remedy.type === 'ASK_OPERATOR') return first;
  return `${first} ${remedy.then === 'ALLOW' ? REMEDIES.then_allowed() : REMEDIES.then_reviewed()}`;
}
