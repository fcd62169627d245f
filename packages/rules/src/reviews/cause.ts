import type { Decision, StageFinding } from '@purser/contract/decisions';
import type { ReasonCode } from '@purser/contract/reasons';
import { REVIEW_CAUSES, REVIEW_REASONS } from '@purser/contract/reviews/reasons';
import type { Sheet, SheetApproval } from '@purser/contract/reviews/sheet';
import { formatMoney } from '../values/money.ts';

type Decided = Pick<Decision, 'reason_code' | 'reason_codes' | 'policy_trace' | 'currency'>;

/** Returns the reasons that made a review necessary, the first one first; empty for a decision without a review. */
export function causesOf({ policy_trace }: Pick<Decision, 'policy_trace'>): ReasonCode[] {
  const codes = policy_trace.flatMap(({ outcome, reason_code }) =>
    outcome === 'REVIEW' && reason_code !== null ? [reason_code] : [],
  );
  return [...new Set(codes)];
}

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

/** The value that all of these have; null where they differ or there are none. */
function agreed<T>(values: readonly (T | null)[]): T | null {
  const [first = null, ...rest] = values;
  return rest.every((value) => value === first) ? first : null;
}

const choices = (of: Readonly<Record<string, string>>) =>
  Object.entries(of).map(([code, text]) => ({ code, text }));
const CHOICES = { ALLOW: choices(REVIEW_REASONS.ALLOW), DENY: choices(REVIEW_REASONS.DENY) };

/**
 * Returns the reasons that a reviewer may choose from, and those that are chosen unless the reviewer chooses: with several
 * causes only one that fits them all. `bulk` is true if every cause permits it, no evidence is suspicious, and one approval
 * without a signature is enough.
 */
export function reviewReasons(
  { policy_trace, purpose }: Pick<Decision, 'policy_trace' | 'purpose'>,
  { required, signed }: Pick<SheetApproval, 'required' | 'signed'>,
): Sheet['reasons'] {
  const causes = causesOf({ policy_trace }).map((code) => REVIEW_CAUSES[code]);
  const is_suspicious = purpose.evidence.some(({ effect }) => effect === 'suspicious');
  return {
    ...CHOICES,
    default_allow: agreed(causes.map((cause) => cause?.default_allow ?? null)),
    default_deny: agreed(causes.map((cause) => cause?.default_deny ?? null)),
    bulk:
      causes.length > 0 &&
      causes.every((cause) => cause?.bulk === true) &&
      !is_suspicious &&
      required === 1 &&
      !signed,
  };
}
