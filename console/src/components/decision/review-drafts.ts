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
