import { AUTHORITY_DEFAULTS, type Authority } from '@purser/contract/authority';
import { isLease } from '../leases/leases.ts';
import { listerAndDay, vouchingEntry } from '../merchants/directory.ts';
import { PHRASES, POLICY } from '../sentences/policy.ts';
import { formatMoney } from '../values/money.ts';
import { type Judge, type JudgesOf, NO_JUDGES, sameCurrencyOnly, skipped } from './stage.ts';

/**
 * `new_merchant`: whether the agent is known to have paid the merchant, or the payee that the request names. One that a person
 * listed as allowed is known too.
 */
const judgeNewMerchant: Judge = sameCurrencyOnly((authority, facts, observed) => {
  const { currency, on_new_merchant, new_merchant_threshold_minor: limit = null } = authority;
  if (isLease(authority, facts.request.action)) return skipped(POLICY.not_checked_for_leases());
  const { merchant, payee_id } = facts.request.action;
  const whom = payee_id === undefined ? PHRASES.the_merchant(merchant) : PHRASES.the_payee(merchant);
  if (facts.is_known_merchant) return { outcome: 'PASS', observed, limit, detail: POLICY.paid_before(whom) };
  const entry = vouchingEntry(facts.directory, facts.request.action);
  if (entry !== null) {
    const [lister, day] = listerAndDay(entry);
    return { outcome: 'PASS', observed, limit, detail: POLICY.listed(lister, merchant, day) };
  }
  const outcome = on_new_merchant === 'DENY' ? 'DENY' : 'REVIEW';
  if (limit === null) {
    const detail = outcome === 'DENY' ? POLICY.first_denied(whom) : POLICY.first_reviewed(whom);
    return { outcome, reason_code: 'NEW_MERCHANT', observed, limit, detail };
  }
  const amounts = [formatMoney(observed, currency), formatMoney(limit, currency)] as const;
  if (observed <= limit)
    return { outcome: 'PASS', observed, limit, detail: POLICY.first_within(...amounts, whom) };
  const detail = POLICY.first_over(...amounts, whom);
  return { outcome, reason_code: 'NEW_MERCHANT', observed, limit, detail, room_minor: limit };
});

const JUDGES = [judgeNewMerchant];

/** True if an authority asks whom the agent has paid before. */
export function needsKnownMerchant({
  on_new_merchant = AUTHORITY_DEFAULTS.on_new_merchant,
}: Pick<Authority, 'on_new_merchant'>): boolean {
  return on_new_merchant !== 'ALLOW';
}

/** The judges of `new_merchant`. */
export const newMerchantJudges: JudgesOf = (authority) =>
  needsKnownMerchant(authority) ? JUDGES : NO_JUDGES;
