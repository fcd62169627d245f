import type { Action, Decision } from '@purser/contract/decisions';
import type { PlacedEvent } from '@purser/rules/domain/decision-history';
import type { DecisionKind, ReviewState } from '@purser/rules/domain/decisions';
import { knownMerchantKey, makesMerchantKnown } from '@purser/rules/policy/known-merchants';

/** Whom an agent would be known to have paid by what became of decisions as a draft makes them. */
export interface DraftedMerchants {
  /** Notes a decision as the draft makes it. */
  note(decision: Pick<Decision, 'decision_id' | 'action'>, drafted: DecisionKind): void;
  /** Applies what really happened to a decision; of decisions that were not noted nothing is made known. */
  apply(event: PlacedEvent): void;
  hasReplayed(decision_id: string): boolean;
  isKnown(of: { action: Action }): boolean;
}

/** Makes an empty set. Events must come in the order of the ledger. */
export function makeDraftedMerchants(): DraftedMerchants {
  const drafts = new Map<string, { key: string; decision: DecisionKind; review_state: ReviewState | null }>();
  const known = new Set<string>();
  return {
    note({ decision_id, action }, decision) {
      drafts.set(decision_id, { key: knownMerchantKey(action), decision, review_state: null });
    },
    apply({ decision_id, event }) {
      const draft = drafts.get(decision_id);
      if (draft === undefined) return;
      const is_review = event.type === 'decision.review.recorded';
      // Under the draft there may have been no review.
      if (is_review && draft.decision !== 'REVIEW') return;
      if (makesMerchantKnown(draft.decision, draft.review_state, event)) known.add(draft.key);
      if (is_review) draft.review_state = event.review.action === 'ALLOW' ? 'ALLOWED' : 'DENIED';
    },
    hasReplayed: (decision_id) => drafts.has(decision_id),
    isKnown: ({ action }) => known.has(knownMerchantKey(action)),
  };
}
