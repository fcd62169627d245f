import type { Decision, StageFinding } from '@purser/contract/decisions';
import type { ReasonCode } from '@purser/contract/reasons';
import { formatMoney } from '../values/money.ts';

type Decided = Pick<Decision, 'reason_code' | 'reason_codes' | 'policy_trace' | 'currency'>;

const SENTENCES: Partial<Record<ReasonCode, string>> = {
  WITHIN_AUTHORITY: 'It is within the policy.',
  PURPOSE_MISALIGNED: "It does not fit the agent's purpose.",
  PURPOSE_UNCLEAR: "It is unclear if it fits the agent's purpose.",
  REVIEW_THRESHOLD_EXCEEDED: 'The amount is over the review threshold.',
  ACTION_TYPE_NEEDS_REVIEW: 'The policy requires a review for purchases of this type.',
  MERCHANT_NOT_ALLOWED: 'The merchant is not on the list of allowed merchants.',
  PAYEE_NOT_ALLOWED: "The payee is not one of the merchant's known accounts.",
  OUTSIDE_ACTIVE_HOURS: "It was requested outside the agent's active hours.",
  DUPLICATE_SPEND: 'The agent requested the same amount at the same merchant shortly before.',
  VELOCITY_LIMIT_EXCEEDED: 'It exceeds a limit on spending over time.',
  NEW_MERCHANT: 'The agent has not paid this merchant, or this payee, before.',
};

/** The larger and the smaller amount of a finding, in words; null where it has none. */
function amountsOf({ observed, limit }: StageFinding, currency: string): [string, string] | null {
  if (typeof observed !== 'number' || typeof limit !== 'number') return null;
  return [formatMoney(observed, currency), formatMoney(limit, currency)];
}

/**
 * Returns why a decision is as it is, in fixed words: no text of the agent, of a merchant or of the authority is in it.
 * Amounts are in words, grouped.
 */
export function causeSentence({ reason_code, policy_trace, currency }: Decided): string {
  const finding = policy_trace.find((each) => each.reason_code === reason_code);
  const amounts = finding === undefined ? null : amountsOf(finding, currency);
  if (reason_code === 'REVIEW_THRESHOLD_EXCEEDED' && amounts !== null)
    return `${amounts[0]} is over the review threshold of ${amounts[1]}.`;
  return SENTENCES[reason_code] ?? 'The policy denies it.';
}
