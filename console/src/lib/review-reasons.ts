import type { Decision, Label, Review } from '@purser/sdk';

type LabelName = Label['label'];

/** A reason for a review: the code that is kept, and what it says. */
export type ReviewReason = readonly [code: string, text: string];

/** In the order of the keys 1 to 9. The first reason to allow is taken where none is chosen. */
export const REVIEW_REASONS: Record<'ALLOW' | 'DENY', readonly ReviewReason[]> = {
  ALLOW: [
    ['WITHIN_PURPOSE', 'Serves the purpose'],
    ['CONFIRMED_WITH_OWNER', 'Confirmed with whoever asked for it'],
    ['KNOWN_MERCHANT', 'We know this merchant'],
    ['ONE_TIME_EXCEPTION', 'An exception, this once'],
    ['URGENT', 'Urgent, and harmless enough'],
  ],
  DENY: [
    ['NOT_THE_PURPOSE', 'Does not serve the purpose'],
    ['MERCHANT_NOT_TRUSTED', 'We do not trust this merchant'],
    ['TOO_EXPENSIVE', 'Too expensive'],
    ['DUPLICATE', 'Bought already'],
    ['NOT_ENOUGH_TOLD', 'Not enough is told'],
    ['MANIPULATED', 'The agent seems to be manipulated'],
    ['NOT_NOW', 'Not now'],
  ],
};

/** Reasons to deny that say something of the purpose; the others say nothing of it. */
const LABEL_OF_DENIAL: Record<string, LabelName | undefined> = {
  NOT_THE_PURPOSE: 'PURPOSE_MISALIGNED',
  MANIPULATED: 'PURPOSE_MISALIGNED',
  NOT_ENOUGH_TOLD: 'PURPOSE_UNCLEAR',
};

/**
 * The label that goes with a review, which one key then gives: what the review said of the purpose, and where it said
 * nothing, what the assessment said.
 */
export function labelOfReview(
  { action, reason_code }: Pick<Review, 'action' | 'reason_code'>,
  { purpose }: Pick<Decision, 'purpose'>,
): LabelName {
  if (action === 'ALLOW') return 'PURPOSE_ALIGNED';
  return LABEL_OF_DENIAL[reason_code] ?? purpose.assessment;
}
