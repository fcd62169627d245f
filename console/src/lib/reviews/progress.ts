import type { Decision } from '@purser/sdk';

/** "1 of 2 approvals, still needed from user:bo or user:cy"; null where a single approval by anyone is enough. */
export function progressInWords({
  review_progress,
  review_tier,
}: Pick<Decision, 'review_progress' | 'review_tier'>): string | null {
  if (review_progress === undefined || review_tier === undefined) return null;
  const { required, given } = review_progress;
  if (required === 1 && review_tier.approvers === undefined) return null;
  const counted = `${given.length} of ${required} ${required === 1 ? 'approval' : 'approvals'}`;
  if (given.length >= required || review_tier.approvers === undefined) return counted;
  const done = new Set(given.map(({ principal_id }) => principal_id));
  const left = review_tier.approvers.filter((each) => !done.has(each));
  return left.length === 0 ? counted : `${counted}, still needed from ${left.join(' or ')}`;
}
