import { AUTHORITY_DEFAULTS, type Authority } from '@purser/contract/authority';
import { listedBy, vouchingEntry } from '../merchants/directory.ts';
import { formatMoney } from '../values/money.ts';
import { type Judge, type JudgesOf, NO_JUDGES, sameCurrencyOnly } from './stage.ts';

/**
 * `new_merchant`: whether the agent is known to have paid the merchant, or the payee that the request names. One that a person
 * listed as allowed is known too.
 */
const judgeNewMerchant: Judge = sameCurrencyOnly((authority, facts, observed) => {
  const { currency, on_new_merchant, new_merchant_threshold_minor: limit = null } = authority;
  const { merchant, payee_id } = facts.request.action;
  const whom = payee_id === undefined ? `"${merchant}"` : `"${merchant}" at this payee`;
  if (facts.is_known_merchant)
    return { outcome: 'PASS', observed, limit, detail: `The agent has paid ${whom} before.` };
  const entry = vouchingEntry(facts.directory, facts.request.action);
  if (entry !== null)
    return { outcome: 'PASS', observed, limit, detail: `The merchant "${merchant}" is ${listedBy(entry)}.` };
  const is_new = `The agent has not paid ${whom} before`;
  if (limit !== null && observed <= limit) {
    const detail = `${is_new}; ${formatMoney(observed, currency)} is within the ${formatMoney(limit, currency)} for new merchants.`;
    return { outcome: 'PASS', observed, limit, detail };
  }
  const outcome = on_new_merchant === 'DENY' ? 'DENY' : 'REVIEW';
  const room = limit === null ? {} : { room_minor: limit };
  return { outcome, reason_code: 'NEW_MERCHANT', observed, limit, detail: `${is_new}.`, ...room };
});

const JUDGES = [judgeNewMerchant];

/** Whether an authority asks whom the agent has paid before. */
export function needsKnownMerchant({
  on_new_merchant = AUTHORITY_DEFAULTS.on_new_merchant,
}: Pick<Authority, 'on_new_merchant'>): boolean {
  return on_new_merchant !== 'ALLOW';
}

/** The judges of `new_merchant`. */
export const newMerchantJudges: JudgesOf = (authority) =>
  needsKnownMerchant(authority) ? JUDGES : NO_JUDGES;
