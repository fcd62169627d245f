import type { Decision } from '@purser/contract/decisions';
import type { Origin } from '@purser/rules/domain/audit';
import {
  type Approver,
  absentAt,
  approvalsAmong,
  countsVoices,
  isEscalated,
  placeOf,
} from '@purser/rules/reviews/places';
import type { WorkingSet } from '../../lane/working-set.ts';
import { parseReviewPolicy } from '../../storage/reviews/review-policies.ts';
import type { CreateReviewInput, Standing } from './review-case.ts';

/** The person behind a key, or the id of the topmost key of its making. */
function voiceOfKey(set: WorkingSet, key_id: string, topmost: ReadonlyMap<string, string>): string {
  return set.keys.get(key_id)?.made_by_person ?? topmost.get(key_id) ?? key_id;
}

/** Returns the reviewer as a tier sees them. The command must need the actor's principal. */
export function approverOf(
  set: WorkingSet,
  { actor }: Origin,
  topmost: ReadonlyMap<string, string>,
): Approver {
  const { key_id, principal_id } = actor;
  if (key_id === null) return { principal_id, voice: principal_id ?? '', has_foreign_principal: false };
  const voice = voiceOfKey(set, key_id, topmost);
  const has_foreign_principal =
    principal_id !== null && principal_id !== voice && set.people.membersWith(principal_id).length > 0;
  return { principal_id, voice, has_foreign_principal };
}

/**
 * Returns the reviewer's standing under the tier and the limits of a decision; null where no review policy applies to it. Throws
 * where another version of the policy was loaded.
 */
export function standingOf(
  set: WorkingSet,
  decision: Decision,
  input: CreateReviewInput,
  origin: Origin,
): Standing | null {
  const { review_tier: tier = null, review_policy_version, requested_by, reservation } = decision;
  if (review_policy_version === undefined) return null;
  const approver = approverOf(set, origin, input.topmost_keys);
  const requester_voice = voiceOfKey(set, requested_by.key_id, input.topmost_keys);
  const { approver_limits = [] } = parseReviewPolicy(set.reviewPolicyVersion(review_policy_version));
  const place = placeOf({
    tier,
    is_escalated: isEscalated(decision, set.now_ms),
    approver,
    given: approvalsAmong(set.records.reviewsOf(decision.decision_id)),
    absent: absentAt(set.people.reviewers(), set.now_ms),
    requester: [requested_by.principal_id, requester_voice],
    limits: approver_limits,
    held_minor: reservation.amount_minor,
    currency: decision.currency,
  });
  return { approver, is_requester: countsVoices(tier) && approver.voice === requester_voice, place };
}
