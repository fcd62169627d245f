import type { Review } from '@purser/contract/records';
import { completesReview } from '@purser/rules/domain/decision-history';
import type { ReviewCase } from './review-case.ts';

/** Returns whose place a review uses and what it lists, as it is recorded and signed. */
export function recordedTerms({
  input,
  decision,
  state,
  standing,
}: Pick<ReviewCase, 'input' | 'decision' | 'state' | 'standing'>): Pick<Review, 'on_behalf_of' | 'remember'> {
  const { action, remember } = input;
  const place = action === 'ALLOW' && standing?.place.ok === true ? standing.place : null;
  // An approval that others have to follow settles nothing yet.
  const completes = completesReview(decision, state, action);
  return {
    on_behalf_of: place?.on_behalf_of ?? null,
    remember: completes ? (remember?.remember ?? null) : null,
  };
}
