import { railOf } from '../../merchants/keys.ts';
import { PURPOSE } from '../../sentences/purpose.ts';
import { RAIL_WORDS } from '../data/constraint-language.ts';
import { plainAccount } from '../language/figures.ts';
import { isOnlyRefund, isSameMerchant } from '../reading/own-spends.ts';
import { precedentsAt } from '../reading/precedents.ts';
import { type Conflict, conflictsWith, type Inquiry, subjectOf } from './conflict.ts';

const IS_IBAN = /^[A-Z]{2}\d{2}[A-Z0-9]{8,30}$/;

/** The words of a payee's id, if they are a name and no code: "vk-trading-7731", "kent-express"; empty for a code. */
function nameOfPayee(payee_id: string): string[] {
  const rail = railOf(payee_id);
  const words = payee_id
    .slice(payee_id.indexOf(':') + 1)
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => /^\p{L}{2,}$/u.test(word) && !RAIL_WORDS.has(word));
  return words.length > 1 || rail === 'payee:' ? words : [];
}

/** The id bears another name than the merchant's, or is a bank account that the operator did not write down beside its own. */
function isOdd({ purpose, spend }: Inquiry, payee_id: string): boolean {
  const account = plainAccount(payee_id);
  if (purpose.accounts.has(account)) return false;
  const name = nameOfPayee(payee_id);
  const bears_other_name =
    name.length > 0 &&
    !spend.merchant.tokens.some(
      ({ word }) => word.length > 2 && name.some((one) => one.includes(word) || word.includes(one)),
    );
  return (
    bears_other_name ||
    (IS_IBAN.test(account) && [...purpose.accounts.keys()].some((one) => IS_IBAN.test(one)))
  );
}

/** The merchant has a voucher, and the money would go to a payee that nobody approved there. */
export const newPayee: Conflict = {
  kind: 'new_payee',
  severity: 'unclear',
  applies: ({ vouched }) => vouched !== undefined,
  *find(inquiry) {
    const { spend, facts, vouched } = inquiry;
    const { merchant, payee_id = null, type } = spend.request.action;
    const approved = precedentsAt(facts, spend.request.action).flatMap((one) =>
      one.said_by_people.allowed + one.settled_by_rail > 0 ? one.payee_id : [],
    );
    if (payee_id !== null && approved.includes(payee_id)) return;
    // Money may go back to where it came from; to pay again is no proof, since an agent could pay once to be believed later.
    const goes_back =
      isOnlyRefund(type) &&
      facts.paid.some((one) => one.payee_id === payee_id && isSameMerchant(one, merchant));
    if (goes_back) return;
    const is_outside = vouched?.payees?.includes(payee_id) === false;
    const is_other =
      payee_id !== null &&
      !isOnlyRefund(type) &&
      approved.some((one) => one !== null && railOf(one) === railOf(payee_id));
    const is_odd = payee_id !== null && vouched?.is_chosen === false && isOdd(inquiry, payee_id);
    if (!is_outside && !is_other && !is_odd) return;
    yield {
      sentence:
        payee_id === null
          ? PURPOSE.new_payee_none(spend.merchant.raw)
          : PURPOSE.new_payee(payee_id, spend.merchant.raw),
      evidence: [conflictsWith('action.payee_id', payee_id ?? 'none')],
      about: subjectOf(null, payee_id === null ? [] : [payee_id]),
    };
  },
};
