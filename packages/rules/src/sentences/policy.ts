import { quoted } from './quoted.ts';

/*
 * A function has no branches, so that the golden file `server/cases/sentences.yaml` has a row for each thing that a
 * decision can say. Amounts, times and periods are texts already; names of merchants and limits are put in quotation marks.
 */

/** Parts of the sentences below. */
export const PHRASES = {
  a_day: () => 'a day',
  a_week: () => 'a week',
  a_month: () => 'a month',
  in_zone: (time: string, zone: string) => `${time} in ${zone}`,
  today: () => 'today',
  this_week: () => 'this week',
  this_month: () => 'this month',
  within_one: (unit: string) => `within 1 ${unit}`,
  within: (many: number, unit: string) => `within ${many} ${unit}s`,
  to_this_merchant: (span: string) => `${span} to this merchant`,
  to_this_payee: (span: string) => `${span} to this payee`,
  without_payee: (span: string) => `${span} without a named payee`,
  the_merchant: (merchant: string) => quoted(merchant),
  the_payee: (merchant: string) => `this payee of ${quoted(merchant)}`,
  shared_budget: (slug: string) => `the shared budget ${quoted(slug)}`,
  shared_budget_for: (slug: string, period: string) => `the shared budget ${quoted(slug)} for ${period}`,
  allowance: (name: string) => `the allowance ${quoted(name)}`,
  allowance_for: (name: string, period: string) => `the allowance ${quoted(name)} for ${period}`,
  one_account: () => '1 known account',
  accounts: (count: number) => `${count} known accounts`,
  just_now: () => 'just now',
  one_ago: (unit: string) => `1 ${unit} ago`,
  ago: (many: number, unit: string) => `${many} ${unit}s ago`,
};

/** All that the stages of the policy say, but for the purpose. */
export const POLICY = {
  has_policy: () => 'The agent has a policy.',
  no_policy: () => 'The agent has no policy. Set one to let it spend.',
  no_purpose: () => 'The agent has no policy, so there is no purpose to compare with.',
  not_checked: () => 'Not checked: the agent has no policy.',
  other_currency: (currency: string, own: string) =>
    `Not checked: the request is in ${currency}, the policy in ${own}.`,

  within: (amount: string, merchant: string) => `${amount} to ${quoted(merchant)} is within the policy.`,
  budget_left: (left: string) => `${left} of this month's budget remains.`,
  unclear_allowed: () => 'The policy allows an unclear purpose.',
  not_checked_for_leases: () => 'Not checked: this leases money for model calls.',

  valid: () => 'The policy is valid.',
  valid_until: (time: string) => `The policy is valid until ${time}.`,
  valid_from: (time: string) => `The policy starts at ${time}.`,
  expired: (time: string) => `The policy expired at ${time}. Set a new one to let the agent spend.`,

  right_currency: (currency: string) => `The policy is in ${currency}.`,
  wrong_currency: (amount: string, own: string) => `Requested ${amount}, but the policy allows only ${own}.`,

  type_allowed: (type: string) => `The policy allows the type ${quoted(type)}.`,
  type_not_allowed: (type: string, allowed: readonly string[]) =>
    `The policy doesn't allow the type ${quoted(type)}. It allows ${allowed.map(quoted).join(', ')}.`,
  type_reviewed: (type: string) => `The policy sends the type ${quoted(type)} to a reviewer.`,

  nothing_blocked: () => 'The policy blocks no merchants.',
  not_blocked: () => "The merchant isn't on the blocklist.",
  blocked: (merchant: string) => `The policy blocks ${quoted(merchant)}.`,
  blocked_by_entry: (merchant: string, entry: string) =>
    `The policy blocks ${quoted(entry)}, and ${quoted(merchant)} matches.`,
  blocked_in_directory: (merchant: string, lister: string, day: string) =>
    `${lister} blocked ${quoted(merchant)} on ${day}.`,
  blocked_by_directory_entry: (merchant: string, entry: string, lister: string, day: string) =>
    `${lister} blocked ${quoted(entry)} on ${day}, and ${quoted(merchant)} matches.`,

  merchant_allowed: (merchant: string) => `${quoted(merchant)} is one of your approved merchants.`,
  payee_allowed: () => 'The policy allows this payee.',
  others_allowed: () => 'The policy allows other merchants too.',
  merchant_not_allowed: (merchant: string) =>
    `${quoted(merchant)} isn't one of your approved merchants. Approve it, or choose another one.`,
  no_payee: (merchant: string, accounts: string) =>
    `${quoted(merchant)} has ${accounts}, and the request names no payee.`,
  other_payee: (merchant: string, accounts: string) =>
    `${quoted(merchant)} has ${accounts}, and the request names another payee. Check the account with the merchant.`,

  active: (time: string, zone: string) => `It is ${time} in ${zone}, within the active hours.`,
  active_from: (time: string, zone: string, from: string) =>
    `It is ${time} in ${zone}, outside the active hours. The agent may spend again from ${from}.`,
  never_active: (time: string, zone: string) =>
    `It is ${time} in ${zone}, and no clock there ever shows the active hours.`,

  no_duplicate: (amount: string, merchant: string, within: string) =>
    `The agent made no other request for ${amount} to ${quoted(merchant)} ${within}.`,
  duplicate: (amount: string, merchant: string, ago: string, decision_id: string) =>
    `The agent already requested ${amount} to ${quoted(merchant)} ${ago} (${decision_id}). Check that this isn't the same purchase.`,
  duplicate_of_unknown: (amount: string, merchant: string, within: string) =>
    `The agent already requested ${amount} to ${quoted(merchant)} ${within}. Check that this isn't the same purchase.`,

  no_transaction_limit: () => 'The policy sets no per-transaction limit.',
  within_transaction_limit: (amount: string, limit: string) =>
    `${amount} is within the per-transaction limit of ${limit}.`,
  // The wire contract has this sentence.
  over_transaction_limit: (amount: string, limit: string) =>
    `Requested ${amount}, over the per-transaction limit of ${limit}.`,
  reduced_to_transaction_limit: (amount: string, limit: string) =>
    `Requested ${amount}, reduced to the per-transaction limit of ${limit}.`,

  other_merchants: (limit: string) => `The limit ${quoted(limit)} is for other merchants.`,
  other_types: (limit: string) => `The limit ${quoted(limit)} is for other action types.`,
  names_no_payee: () => 'The request names no payee.',
  within_velocity: (amount: string, limit: string, left: string, most: string, span: string) =>
    `${amount} is within the limit ${quoted(limit)}: ${left} of ${most} ${span} remains.`,
  over_velocity: (amount: string, left: string, limit: string, most: string, span: string) =>
    `Requested ${amount}, over the ${left} left of the limit ${quoted(limit)} (${most} ${span}).`,
  velocity_used_up: (amount: string, limit: string, most: string, span: string) =>
    `Requested ${amount}, but nothing is left of the limit ${quoted(limit)} (${most} ${span}).`,
  reduced_to_velocity: (amount: string, left: string, limit: string) =>
    `Requested ${amount}, reduced to the ${left} left of the limit ${quoted(limit)}.`,
  within_count: (count: number, most: number, span: string, limit: string) =>
    `This is payment ${count} of ${most} ${span} under the limit ${quoted(limit)}.`,
  over_count: (count: number, span: string, limit: string, most: number) =>
    `This would be payment ${count} ${span}. The limit ${quoted(limit)} allows ${most}.`,
  resets: (time: string) => `It resets at ${time}.`,
  room_again: (time: string) => `It has room again at ${time}.`,

  no_monthly_budget: () => 'The policy sets no monthly budget.',
  within_budget: (amount: string, left: string, limit: string) =>
    `${amount} is within the monthly budget: ${left} of ${limit} remains.`,
  over_budget: (amount: string, left: string, limit: string) =>
    `Requested ${amount}, over the ${left} left of the monthly budget of ${limit}.`,
  budget_used_up: (amount: string, limit: string) =>
    `Requested ${amount}, but nothing is left of the monthly budget of ${limit}.`,
  reduced_to_budget: (amount: string, left: string, limit: string) =>
    `Requested ${amount}, reduced to the ${left} left of the monthly budget of ${limit}.`,
  over_countable: (amount: string, left: string) =>
    `Requested ${amount}, over the ${left} that Purser can still count this month.`,
  reduced_to_countable: (amount: string, left: string) =>
    `Requested ${amount}, reduced to the ${left} that Purser can still count this month.`,

  frozen: (slug: string) => `The shared budget ${quoted(slug)} is frozen. An administrator can unfreeze it.`,
  within_shared: (amount: string, budget: string, left: string, limit: string) =>
    `${amount} is within ${budget}: ${left} of ${limit} remains.`,
  over_shared: (amount: string, left: string, budget: string) =>
    `Requested ${amount}, over the ${left} left of ${budget}.`,
  shared_used_up: (amount: string, budget: string) =>
    `Requested ${amount}, but nothing is left of ${budget}.`,
  reduced_to_shared: (amount: string, left: string, budget: string) =>
    `Requested ${amount}, reduced to the ${left} left of ${budget}.`,

  answered_ahead: (id: string, by: string, day: string) => `Answered by ${id}, ${by}, until ${day}.`,
  allowance_required: () => 'The policy requires an allowance, and the request names none.',
  allowance_undecided: (name: string) => `The allowance ${quoted(name)} waits for a decision.`,
  allowance_denied: (name: string, time: string) =>
    `The allowance ${quoted(name)} permits nothing: denied at ${time}.`,
  allowance_expired: (name: string, time: string) => `The allowance ${quoted(name)} expired at ${time}.`,
  allowance_revoked: (name: string, time: string) =>
    `The allowance ${quoted(name)} permits nothing: revoked at ${time}.`,
  allowance_currency: (name: string, own: string, asked: string) =>
    `The allowance ${quoted(name)} is in ${own}, but the request is in ${asked}.`,
  allowance_merchants: (name: string, merchant: string) =>
    `The allowance ${quoted(name)} is for other merchants than ${quoted(merchant)}.`,
  allowance_payees: (name: string) =>
    `The allowance ${quoted(name)} is for certain payees, and the request names none of them.`,
  allowance_types: (name: string, type: string) =>
    `The allowance ${quoted(name)} is for other action types than ${quoted(type)}.`,
  allowance_through: (name: string, part: string) =>
    `Spends under the allowance ${quoted(name)} must name its part ${part}.`,
  allowance_count: (allowance: string, most: number) =>
    `This would be one spend more than the ${most} that ${allowance} allows.`,
  reduced_to_allowance_each: (amount: string, most: string, allowance: string) =>
    `Requested ${amount}, reduced to the ${most} that one spend under ${allowance} may take.`,
  over_allowance_each: (amount: string, most: string, allowance: string) =>
    `Requested ${amount}, over the ${most} that one spend under ${allowance} may take.`,

  not_reducible: () => "The request doesn't accept a smaller amount.",
  not_reduced: (amount: string) => `The full ${amount} is available.`,
  enough: (amount: string, least: string) =>
    `${amount} is available, and the request accepts ${least} or more.`,
  not_enough: (amount: string, least: string) =>
    `${amount} is available, less than the ${least} that the request accepts.`,

  paid_before: (whom: string) => `The agent paid ${whom} before.`,
  listed: (lister: string, merchant: string, day: string) =>
    `${lister} listed ${quoted(merchant)} on ${day}.`,
  first_within: (amount: string, limit: string, whom: string) =>
    `${amount} is within the limit of ${limit} for a first payment to ${whom}.`,
  first_over: (amount: string, limit: string, whom: string) =>
    `${amount} is over the limit of ${limit} for a first payment to ${whom}.`,
  first_reviewed: (whom: string) => `First payment to ${whom}. Check that this is the right one.`,
  first_denied: (whom: string) => `First payment to ${whom}. The policy denies first payments.`,

  no_review_threshold: () => 'The policy sets no review threshold.',
  within_threshold: (amount: string, threshold: string) =>
    `${amount} is within the review threshold of ${threshold}.`,
  over_threshold: (amount: string, threshold: string) =>
    `${amount} is over the review threshold of ${threshold}.`,
};
