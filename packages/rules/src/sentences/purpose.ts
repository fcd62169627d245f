import { quoted } from './quoted.ts';

/*
 * A function has no branches, so that the golden file `server/cases/sentences.yaml` has a row for each thing that an
 * assessment can say. Amounts are texts already; words of others are put in quotation marks.
 */

/** Reasons that a merchant is vouched for; the first part of an aligned assessment. */
export const VOUCHED = {
  approved_list: (merchant: string) => `${quoted(merchant)} is one of your approved merchants.`,
  listed: (lister: string, merchant: string, day: string) =>
    `${lister} listed ${quoted(merchant)} on ${day}.`,
  approved_once: (merchant: string) => `Reviewers approved ${quoted(merchant)} once.`,
  approved: (merchant: string, count: number) => `Reviewers approved ${quoted(merchant)} ${count} times.`,
  settled_once: (merchant: string) => `The payment rail settled one payment to ${quoted(merchant)}.`,
  settled: (merchant: string, count: number) =>
    `The payment rail settled ${count} payments to ${quoted(merchant)}.`,
  account: (merchant: string) => `The purpose names the account of ${quoted(merchant)}.`,
  name: (merchant: string) => `The purpose names ${quoted(merchant)}.`,
  allowance: (name: string) => `The allowance ${quoted(name)} asks for this.`,
  allowance_list: (merchant: string, name: string) =>
    `${quoted(merchant)} is one of the merchants and payees of the allowance ${quoted(name)}.`,
  trade: (merchant: string, trade: string) =>
    `${quoted(merchant)} sells ${trade}, which the objective asks for.`,
};

/** All that an assessment says: its findings, by the kind of the question, and the words around them. */
export const PURPOSE = {
  aligned: () => 'Nothing in the request contradicts the purpose.',
  model_calls: () => 'The policy allows model calls, and this leases money for them.',
  rejected: (by: string, day: string) => `A reviewer rejected this here before (${by} on ${day}).`,

  cash_like_goods: (goods: string) =>
    `${quoted(goods)} is as good as cash, and the purpose doesn't ask for it.`,
  cash_like_merchant: (merchant: string, trade: string) =>
    `${quoted(merchant)} sells ${trade}, which is as good as cash, and the purpose doesn't ask for it.`,
  cash_like_type: (type: string) =>
    `The type ${quoted(type)} is as good as cash, and the purpose doesn't ask for it.`,
  cash_like_rail: (rail: string) =>
    `The money would go by ${quoted(rail)}, which nobody can reverse, and the purpose doesn't ask for it.`,
  condition: (clause: string) =>
    `The purpose sets a condition that only the agent's own words could meet: ${quoted(clause)}.`,
  condition_bound: (to: string, clause: string) =>
    `The purpose allows only ${to}, and only the agent's own words claim that this is one: ${quoted(clause)}.`,
  condition_words: (words: string, clause: string) =>
    `The request says ${quoted(words)}, and the purpose has a rule about that: ${quoted(clause)}.`,
  condition_denied: (words: string, clause: string) =>
    `The request says ${quoted(words)}, and the purpose sets this condition: ${quoted(clause)}.`,
  disguise: (field: string, how: string) => `The request hides words in ${quoted(field)} behind ${how}.`,
  missing_description: (merchant: string) =>
    `The request to ${quoted(merchant)} has no description, and your policy requires one.`,
  new_merchant: (merchant: string) =>
    `First time at ${quoted(merchant)}. It isn't in the agent's purpose or your approved merchants.`,
  new_merchant_unasked: (merchant: string, allowance: string) =>
    `First time at ${quoted(merchant)}, and the request is about something else than the allowance ${quoted(allowance)} asks for.`,
  new_merchant_paid: (merchant: string) =>
    `Nobody has approved ${quoted(merchant)} yet. It isn't in the agent's purpose or your approved merchants.`,
  new_merchant_larger: (merchant: string) =>
    `Earlier approvals of ${quoted(merchant)} cover only smaller amounts.`,
  new_merchant_approved: (merchant: string) => `Reviewers approved ${quoted(merchant)}.`,
  new_payee: (payee_id: string, merchant: string) =>
    `The money would go to ${quoted(payee_id)}, which nobody has approved as an account of ${quoted(merchant)}.`,
  new_payee_none: (merchant: string) =>
    `The request names no payee for ${quoted(merchant)}. Reviewers approved it only with a payee.`,
  new_words: (word: string, merchant: string) =>
    `Nobody has approved ${quoted(word)} at ${quoted(merchant)} yet.`,
  other_beneficiary: (words: string) =>
    `The request says ${quoted(words)}, a name that the purpose doesn't mention.`,
  other_goods: (goods: string, trade: string) =>
    `${quoted(goods)} belongs to ${trade}, and the purpose doesn't ask for that.`,
  other_source: (merchant: string, clause: string) =>
    `${quoted(merchant)} isn't a seller that the purpose names for this: ${quoted(clause)}.`,
  other_unit: (unit: string, clause: string) =>
    `${quoted(unit)} isn't a unit that the purpose names: ${quoted(clause)}.`,
  over_mark: (amount: string, clause: string) =>
    `This is ${amount}, above a sum in the purpose: ${quoted(clause)}.`,
  over_mark_count: (words: string, clause: string) =>
    `The request says ${quoted(words)}, above a number in the purpose: ${quoted(clause)}.`,
  paid_already: (merchant: string, amount: string, day: string, decision_id: string) =>
    `The agent paid ${quoted(merchant)} ${amount} for the same thing on ${day} (${decision_id}).`,
  paid_already_said: (words: string) => `The request says ${quoted(words)}, so this may be a second payment.`,
  planted_text: (meaning: string, words: string) => `The request ${meaning}: ${quoted(words)}.`,
  private_use: (words: string) =>
    `${quoted(words)} sounds like private use, which the purpose doesn't mention.`,
  private_use_forbidden: (words: string, clause: string) =>
    `${quoted(words)} sounds like private use, which the purpose forbids: ${quoted(clause)}.`,
  prohibited: (clause: string, words: string) =>
    `The purpose forbids this: ${quoted(clause)}. The request says ${quoted(words)}.`,
  prohibited_perhaps: (words: string, clause: string) =>
    `The purpose may forbid ${quoted(words)}: ${quoted(clause)}.`,
  prohibited_attribute: (words: string, clause: string) =>
    `The request says ${quoted(words)}, and the purpose says ${quoted(clause)}.`,
  refund_elsewhere: (payee_id: string, paid: string, decision_id: string) =>
    `The refund would go to ${quoted(payee_id)}, but the agent paid ${quoted(paid)} (${decision_id}).`,
  rejected_before: (word: string) => `A reviewer rejected a similar purchase (${quoted(word)}) here before.`,
  split_sum: (merchant: string, sum: string, threshold: string) =>
    `Together with another payment today, ${quoted(merchant)} would receive ${sum}, above your review threshold of ${threshold}.`,
  split_sum_said: (words: string) => `The request says ${quoted(words)}, so it may be part of a larger sum.`,
  switched_payee: (account: string, known: string, merchant: string) =>
    `The money would go to ${quoted(account)}, but the purpose names ${quoted(known)} for ${quoted(merchant)}.`,
  switched_payee_in_request: (account: string, other: string) =>
    `The money would go to ${quoted(account)}, but the request itself names ${quoted(other)}.`,
  too_long_request: () => 'The request has more text than Purser reads. Please read it yourself.',
  too_long_purpose: () => 'The purpose has more text than Purser reads. Please read it yourself.',
  unusual_amount: (amount: string, most: string, merchant: string) =>
    `This is ${amount}. Nobody has approved more than ${most} at ${quoted(merchant)}.`,
  unusual_currency: (amount: string, currency: string, merchant: string) =>
    `This is ${amount}. Nobody has approved anything in ${currency} at ${quoted(merchant)}.`,
};
