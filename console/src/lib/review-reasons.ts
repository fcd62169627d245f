import type { Decision, Label, Review } from '@purser/sdk';

type LabelName = Label['label'];

/** A reason for a review: the stored code and its text. */
export type ReviewReason = readonly [code: string, text: string];

/** In the order of the keys 1 to 9. The first reason to allow is the default. */
export const REVIEW_REASONS: Record<'ALLOW' | 'DENY', readonly ReviewReason[]> = {
  ALLOW: [
    ['WITHIN_PURPOSE', 'Serves the purpose'],
    ['CONFIRMED_WITH_OWNER', 'Confirmed with the requester'],
    ['KNOWN_MERCHANT', 'We know this merchant'],
    ['ONE_TIME_EXCEPTION', 'One-time exception'],
    ['URGENT', 'Urgent and low risk'],
  ],
  DENY: [
    ['NOT_THE_PURPOSE', 'Does not serve the purpose'],
    ['MERCHANT_NOT_TRUSTED', 'We do not trust this merchant'],
    ['TOO_EXPENSIVE', 'Too expensive'],
    ['DUPLICATE', 'Already bought'],
    ['NOT_ENOUGH_TOLD', 'Not enough information'],
    ['MANIPULATED', 'The agent seems to be manipulated'],
    ['NOT_NOW', 'Not now'],
  ],
};

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
