import { recordHash } from './ledger.ts';

export const REVIEW_ACTIONS = ['ALLOW', 'DENY'] as const;
export type ReviewAction = (typeof REVIEW_ACTIONS)[number];

/** A person's ALLOW or DENY of a REVIEW decision. Never changed or removed. */
export interface Review {
  review_id: string;
  decision_id: string;
  action: ReviewAction;
  /** 1 to 64 of A-Z, 0-9 and `_`, from the reviewer's own list of reasons. */
  reason_code: string;
  comment: string | null;
  /** The review that this one replaces. */
  supersedes: string | null;
  principal_id: string | null;
  /** Null: a person gave it. */
  key_id: string | null;
  created_at: string;
}

/** A review as it is stored. */
export interface ReviewRow extends Review {
  /** When the capability that it issued expires; null where it issued none. */
  capability_expires_at: string | null;
}

/** The `data_hash` of a review: SHA-256 of the RFC 8785 form of all columns. */
export function reviewDataHash(review: ReviewRow): Buffer {
  return recordHash(review);
}

/**
 * Whether the reviewer requested the spend, with the same key or with another key of the same principal. Two keys
 * without a principal count as two requesters.
 */
export function isOwnRequest(
  requested_by: { key_id: string; principal_id: string | null },
  reviewer: { key_id: string | null; principal_id: string | null },
): boolean {
  if (requested_by.key_id === reviewer.key_id) return true;
  return (requested_by.principal_id ?? '') !== '' && requested_by.principal_id === reviewer.principal_id;
}

/** A review as the API returns it. */
export function reviewBody(row: ReviewRow): Review {
  const { capability_expires_at, ...review } = row;
  return review;
}
