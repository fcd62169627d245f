import type { Decision } from '@purser/sdk';
import { useSyncExternalStore } from 'react';
import type { Reach } from './OneChoice.tsx';
import type { StandingValues } from './StandingFields.tsx';

export interface RefusedReview {
  verdict: 'ALLOW' | 'DENY';
  /** Why it was not recorded. Null if the reviewer took it back. */
  error: unknown;
  /** The decision when the form was opened. */
  decision: Decision;
}

/** The input of a review that is not recorded yet. */
export interface ReviewDraft {
  comment: string;
  /** The reason chosen for each verdict. */
  reasons: Partial<Record<'ALLOW' | 'DENY', string>>;
  /** The questions that the denial is about, if not the default. */
  questions?: readonly string[];
  /** The reach of each action. */
  reach?: Partial<Record<'ALLOW' | 'DENY', Reach>>;
  /** The fields of the standing approval. */
  standing?: StandingValues;
}

const drafts = new Map<string, ReviewDraft>();

/** The draft of a decision's review. Drafts outlive the form and are lost with the page. */
export const draftOf = (decision_id: string): ReviewDraft =>
  drafts.get(decision_id) ?? { comment: '', reasons: {} };

export const keepDraft = (decision_id: string, draft: ReviewDraft): void => {
  drafts.set(decision_id, draft);
};

export const dropDraft = (decision_id: string): void => {
  drafts.delete(decision_id);
};

/** By decision ID. Replaced on each change, so that subscribers notice it. */
let refused: ReadonlyMap<string, RefusedReview> = new Map();
const listeners = new Set<() => void>();

/** Stores a refusal, or removes it with null. It outlives the form: a response may arrive after the reviewer moved on. */
export function keepRefusal(decision_id: string, refusal: RefusedReview | null): void {
  if (refusal === null && !refused.has(decision_id)) return;
  const after = new Map(refused);
  if (refusal === null) after.delete(decision_id);
  else after.set(decision_id, refusal);
  refused = after;
  for (const each of listeners) each();
}

/** Refused reviews that nobody has dealt with yet, by decision ID. */
export function useRefusedReviews(): ReadonlyMap<string, RefusedReview> {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => refused,
  );
}
