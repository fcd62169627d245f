import { reviewReasons } from '@purser/contract/reviews/choices';
import { REVIEW_REASONS as ROWS } from '@purser/contract/reviews/reasons';
import type { Decision, Label, Review } from '@purser/sdk';

type LabelName = Label['label'];

/** A reason for a review: the stored code and its text. */
export type ReviewReason = readonly [code: string, text: string];

/** In the order of the keys 1 to 9. */
export const REVIEW_REASONS: Record<'ALLOW' | 'DENY', readonly ReviewReason[]> = {
  ALLOW: Object.entries(ROWS.ALLOW),
  DENY: Object.entries(ROWS.DENY),
};

/** The reason that follows from the cause of the review, and whether it may be reviewed together with others. */
export function choicesFor(decision: Pick<Decision, 'policy_trace' | 'purpose' | 'review_tier'>): {
  defaults: Record<'ALLOW' | 'DENY', string>;
  bulk: boolean;
} {
  const { approvals = 1, signed = false } = decision.review_tier ?? {};
  const { default_allow, default_deny, bulk } = reviewReasons(decision, { required: approvals, signed });
  return { defaults: { ALLOW: default_allow ?? '', DENY: default_deny ?? '' }, bulk };
}

/** Reasons to deny that judge the purpose. */
const LABEL_OF_DENIAL: Record<string, LabelName | undefined> = {
  NOT_THE_PURPOSE: 'PURPOSE_MISALIGNED',
  MANIPULATED: 'PURPOSE_MISALIGNED',
  NOT_ENOUGH_TOLD: 'PURPOSE_UNCLEAR',
};

/**
 * Returns the label to suggest after a review: the review's judgement of the purpose, or the assessment if it made
 * none.
 */
export function labelOfReview(
  { action, reason_code }: Pick<Review, 'action' | 'reason_code'>,
  { purpose }: Pick<Decision, 'purpose'>,
): LabelName {
  if (action === 'ALLOW') return 'PURPOSE_ALIGNED';
  return LABEL_OF_DENIAL[reason_code] ?? purpose.assessment;
}
