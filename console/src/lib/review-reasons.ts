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
