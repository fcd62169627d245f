import type { Action, Decision } from '@purser/contract/decisions';
import { completesReview, type PlacedEvent } from '@purser/rules/domain/decision-history';
import type { DecisionState } from '@purser/rules/domain/decision-states';
import { knownMerchantKey, makesMerchantKnown } from '@purser/rules/policy/known-merchants';

/** Whom an agent would be known to have paid by what became of decisions as a draft makes them. */
export interface DraftedMerchants {
  /** Notes a decision as the draft makes it. */
  note(
    decision: Pick<Decision, 'decision_id' | 'action' | 'review_tier'>,
    drafted: Pick<Decision, 'decision' | 'lease'>,
  ): void;
  /** Applies what really happened to a decision; of decisions that were not noted nothing is made known. */
  apply(event: PlacedEvent): void;
  hasReplayed(decision_id: string): boolean;
  isKnown(of: { action: Action }): boolean;
}

/** Makes an empty set. Events must come in the order of the ledger. */
export function makeDraftedMerchants(): DraftedMerchants {
  const drafts = new Map<
    string,
    Pick<DecisionState, 'review_state' | 'approvals'> &
      Pick<Decision, 'decision' | 'review_tier' | 'lease'> & { key: string }
  >();
  const known = new Set<string>();
  return {
    note({ decision_id, action, review_tier }, drafted) {
      const tier = review_tier === undefined ? {} : { review_tier };
      const begun = { ...drafted, ...tier, review_state: null, approvals: 0 };
      drafts.set(decision_id, { key: knownMerchantKey(action), ...begun });
    },
    apply({ decision_id, event }) {
      const draft = drafts.get(decision_id);
      if (draft === undefined) return;
      const is_review = event.type === 'decision.review.recorded';
      // Under the draft there may have been no review.
      if (is_review && draft.decision !== 'REVIEW') return;
      if (makesMerchantKnown(draft, draft, event)) known.add(draft.key);
      if (!is_review) return;
      const { action } = event.review;
      if (!completesReview(draft, draft, action)) draft.approvals += 1;
      else draft.review_state = action === 'ALLOW' ? 'ALLOWED' : 'DENIED';
    },
    hasReplayed: (decision_id) => drafts.has(decision_id),
    isKnown: ({ action }) => known.has(knownMerchantKey(action)),
  };
}
