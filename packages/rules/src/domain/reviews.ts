import type { Decision } from '@purser/contract/decisions';
import type { ErrorCode } from '@purser/contract/errors';
import type { Review } from '@purser/contract/records';
import type { REVIEW_ACTIONS } from '@purser/contract/values/decisions';
import { signatureOf } from '../signing/records/signatures.ts';
import type { DecisionState } from './decision-states.ts';
import { type ApiKey, isKeyOf } from './keys.ts';
import { recordHash } from './ledger.ts';

export type ReviewAction = (typeof REVIEW_ACTIONS)[number];

/** A review as it is stored. */
export interface ReviewRow extends Omit<Review, 'signature' | 'via'> {
  /** The button that recorded it; null: it came by a call of the API. */
  via: Review['via'] | null;
  /** The reviewer's signature, as `signatureText` writes it; null where there is none. */
  signature: string | null;
  /** When the capability that it issued expires; null where it issued none. */
  capability_expires_at: string | null;
  /** The person or topmost key behind it; a tier counts each voice once. Null where the tier has no such rule. */
  voice: string | null;
}

/** The form of a review that the ledger seals. False, empty and null values of later fields are left out, as before there were any. */
export function sealedReview({
  by_key_maker,
  questions,
  remember,
  on_behalf_of,
  voice,
  via,
  signature,
  ...review
}: ReviewRow): Record<string, unknown> {
  return {
    ...review,
    ...(on_behalf_of === null ? {} : { on_behalf_of }),
    ...(voice === null ? {} : { voice }),
    ...(via == null ? {} : { via }),
    ...(by_key_maker ? { by_key_maker } : {}),
    ...(questions.length > 0 ? { questions } : {}),
    ...(remember === null ? {} : { remember }),
    ...(signature === null ? {} : { signature }),
  };
}

/** The `data_hash` of a review: SHA-256 of the RFC 8785 form of what is sealed of it. */
export function reviewDataHash(review: ReviewRow): Buffer {
  return recordHash(sealedReview(review));
}

/**
 * Returns true if the reviewer requested the spend, with the same key or with another key of the same principal. Two
 * keys without a principal count as two requesters.
 */
export function isOwnRequest(
  requested_by: { key_id: string | null; principal_id: string | null },
  reviewer: { key_id: string | null; principal_id: string | null },
): boolean {
  if (requested_by.key_id !== null && requested_by.key_id === reviewer.key_id) return true;
  return (requested_by.principal_id ?? '') !== '' && requested_by.principal_id === reviewer.principal_id;
}

/** The reviewer's own principal, and the person behind it: the person who is signed in, or at the root of the key. */
export interface Reviewer {
  principal_id: string | null;
  person: string | null;
}

/**
 * Returns whether the reviewer created the key that requested the spend, directly or through other keys, or has the
 * key's principal. Two keys are never compared here if neither has a person behind it.
 */
export function isByKeyMaker(
  requesting: Pick<ApiKey, 'principal_id' | 'made_by_principal_id' | 'made_by_person'>,
  reviewer: Reviewer,
): boolean {
  if (reviewer.person !== null && isKeyOf(requesting, reviewer.person)) return true;
  return requesting.made_by_person !== null && requesting.made_by_person === reviewer.principal_id;
}

/** A review as the API returns it. */
export function reviewBody(row: ReviewRow): Review {
  const { capability_expires_at, voice, via, signature: text, ...review } = row;
  const signature = text === null ? null : signatureOf(text);
  return { ...review, ...(via == null ? {} : { via }), ...(signature === null ? {} : { signature }) };
}

/** Why a review is refused, for the caller. */
export interface NotReviewed {
  code: ErrorCode;
  message: string;
}

/** Returns why a decision can never be reviewed; null: it can. */
export function whyUnreviewable({ decision }: Pick<Decision, 'decision'>): NotReviewed | null {
  if (decision === 'REVIEW') return null;
  return {
    code: 'not_reviewable',
    message: `The decision is ${decision}; only a REVIEW can be reviewed.`,
  };
}

/**
 * Returns why a REVIEW can no longer be reviewed, or not with this review in view; null: it can. In SHADOW a review may
 * correct the one that it names in `supersedes`.
 */
export function whyFinal(
  { mode }: Pick<Decision, 'mode'>,
  { review_state, review_id }: Pick<DecisionState, 'review_state' | 'review_id'>,
  supersedes: string | null,
): NotReviewed | null {
  if (mode === 'ENFORCE' && review_state === 'EXPIRED')
    return { code: 'review_final', message: 'The review expired; request a new decision.' };
  if (mode === 'ENFORCE' && review_state !== 'PENDING')
    return { code: 'review_final', message: 'A review in ENFORCE is final.' };
  if (supersedes === review_id) return null;
  const message =
    review_id === null
      ? 'supersedes: must be omitted: the decision has no review yet'
      : `supersedes: must be ${review_id}, the decision's current review`;
  return { code: 'invalid_request', message };
}
