import type { Decision } from '@purser/sdk';
import { useSyncExternalStore } from 'react';

/** A review that was sent and refused. */
export interface RefusedReview {
  verdict: 'ALLOW' | 'DENY';
  error: unknown;
  /** As it stood when somebody began to review it. */
  decision: Decision;
}

/** What somebody wrote of a review that is not recorded. */
export interface ReviewDraft {
  comment: string;
  /** The reason chosen for each verdict. */
  reasons: Partial<Record<'ALLOW' | 'DENY', string>>;
}

const drafts = new Map<string, ReviewDraft>();

/** What was written of a decision before; it outlives the form, whatever closes that, until the page goes. */
export const draftOf = (decision_id: string): ReviewDraft =>
  drafts.get(decision_id) ?? { comment: '', reasons: {} };

/** Keeps what is written. */
export const keepDraft = (decision_id: string, draft: ReviewDraft): void => {
  drafts.set(decision_id, draft);
};

/** It was recorded, or is not wanted. */
export const dropDraft = (decision_id: string): void => {
  drafts.delete(decision_id);
};

/** By decision. Replaced with each change, so that whoever shows it sees that it changed. */
let refused: ReadonlyMap<string, RefusedReview> = new Map();
const listeners = new Set<() => void>();

/** Keeps a refusal, or forgets it with null. It outlives the form too: an answer may come when somebody has gone on. */
export function keepRefusal(decision_id: string, refusal: RefusedReview | null): void {
  if (refusal === null && !refused.has(decision_id)) return;
  const after = new Map(refused);
  if (refusal === null) after.delete(decision_id);
  else after.set(decision_id, refusal);
  refused = after;
  for (const each of listeners) each();
}

/** The reviews that were refused and not looked after yet, by decision. */
export function useRefusedReviews(): ReadonlyMap<string, RefusedReview> {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => refused,
  );
}
