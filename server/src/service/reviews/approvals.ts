import type { Decision } from '@purser/contract/decisions';
import type { ReviewPolicy } from '@purser/contract/reviews/policy';
import type { SheetApproval } from '@purser/contract/reviews/sheet';
import { madeBy } from '@purser/rules/domain/audit';
import { requiredApprovals, stateAt } from '@purser/rules/domain/decision-states';
import type { ApiKey, Caller } from '@purser/rules/domain/keys';
import type { Member } from '@purser/rules/domain/people';
import {
  isByKeyMaker,
  isOwnRequest,
  type Reviewer,
  type ReviewRow,
  whyFinal,
} from '@purser/rules/domain/reviews';
import type { Workspace } from '@purser/rules/domain/workspace';
import { absentAt, approvalsAmong, countsVoices, isEscalated, placeOf } from '@purser/rules/reviews/places';
import { needsSignature } from '@purser/rules/reviews/signed-tiers';
import { pushTo } from '@purser/rules/values/maps';
import { separates as separatesMakersOf } from '../../engine/commands/reviews/separation.ts';
import { loadKeys, loadTopmostKeys } from '../../engine/storage/api-keys.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import type { DecisionRecord } from '../../engine/storage/decisions.ts';
import { loadActiveReviewers } from '../../engine/storage/members.ts';
import { loadReviewPolicyVersions, parseReviewPolicy } from '../../engine/storage/reviews/review-policies.ts';
import { loadReviewsOfDecisions } from '../../engine/storage/reviews.ts';
import { loadWorkspaces } from '../../engine/storage/workspaces.ts';

/** Everything that decides whether a caller may review decisions of a workspace. */
export interface Reviewing {
  caller: Pick<Caller, 'key_id' | 'principal_id' | 'scopes'>;
  reviewer: Reviewer;
  /** The creator of a requesting key may not review. */
  separates: boolean;
  /** The keys that requested the decisions, by id. */
  keys: ReadonlyMap<string, ApiKey>;
  /** The members who may review and can sign in. */
  reviewers: readonly Member[];
  /** The reviews of those decisions that need several approvals, by decision. */
  reviews: ReadonlyMap<string, readonly ReviewRow[]>;
  /** The versions of the review policy that apply to the decisions. */
  policies: ReadonlyMap<number, ReviewPolicy>;
  /** The topmost key of the making of each key. */
  topmost_keys: ReadonlyMap<string, string>;
  now_ms: number;
}

/** Reads what decides whether a caller may review these decisions: a few look-ups by key, however many there are. */
export async function loadReviewing(
  db: Queryable,
  caller: Caller,
  records: readonly DecisionRecord[],
  now_ms: number,
): Promise<Reviewing> {
  const { workspace_id, key_id, principal_id, session } = caller;
  const key_ids = new Set(records.map(({ decision }) => decision.requested_by.key_id));
  if (key_id !== null) key_ids.add(key_id);
  const decisions = records.map(({ decision }) => decision);
  const versions = new Set(decisions.flatMap(({ review_policy_version }) => review_policy_version ?? []));
  const several = decisions.filter(({ review_tier }) => countsVoices(review_tier ?? null));
  const [keys, workspaces, reviewers, reviews, policies, topmost_keys] = await Promise.all([
    loadKeys(
      db,
      [...key_ids].map((id) => ({ workspace_id, key_id: id })),
    ),
    loadWorkspaces(db, [workspace_id]),
    loadActiveReviewers(db, workspace_id),
    several.length === 0
      ? []
      : loadReviewsOfDecisions(
          db,
          workspace_id,
          several.map(({ decision_id }) => decision_id),
        ),
    versions.size === 0
      ? []
      : loadReviewPolicyVersions(
          db,
          [...versions].map((version) => ({ workspace_id, version })),
        ),
    several.length === 0 ? new Map<string, string>() : loadTopmostKeys(db, workspace_id, [...key_ids]),
  ]);
  const by_decision = new Map<string, ReviewRow[]>();
  for (const review of reviews) pushTo(by_decision, review.decision_id, review);
  const by_id = new Map(keys.map((key) => [key.key_id, key]));
  const type = session === null ? 'api_key' : 'user';
  const actor = { type, key_id, session_id: session?.session_id ?? null, principal_id } as const;
  const { person } = madeBy(actor, key_id === null ? undefined : by_id.get(key_id));
  const reviewer = { principal_id, person };
  const separation = (workspaces[0] as Workspace).separation_of_duties;
  return {
    caller,
    reviewer,
    separates: separatesMakersOf(separation, reviewers, reviewer),
    keys: by_id,
    reviewers,
    reviews: by_decision,
    policies: new Map(policies.map((row) => [row.version, parseReviewPolicy(row)])),
    topmost_keys,
    now_ms,
  };
}

/** The person behind a key, or its topmost key. */
const voiceOf = ({ keys, topmost_keys }: Reviewing, key_id: string): string =>
  keys.get(key_id)?.made_by_person ?? topmost_keys.get(key_id) ?? key_id;

const ownVoice = (reviewing: Reviewing): string =>
  reviewing.caller.key_id === null
    ? (reviewing.caller.principal_id ?? '')
    : voiceOf(reviewing, reviewing.caller.key_id);

/** Returns whether the same person or topmost key is behind the caller and the request, where the tier counts that. */
function isRequesterVoice(reviewing: Reviewing, { review_tier, requested_by }: Decision): boolean {
  return countsVoices(review_tier ?? null) && ownVoice(reviewing) === voiceOf(reviewing, requested_by.key_id);
}

/** Returns whether the caller has a place under the tier and the limits that apply to a decision. */
function hasPlace(reviewing: Reviewing, decision: Decision): boolean {
  const { caller, reviewers, reviews, policies, now_ms } = reviewing;
  const { review_policy_version, requested_by, reservation, currency } = decision;
  const tier = decision.review_tier ?? null;
  if (review_policy_version === undefined) return true;
  const voice = ownVoice(reviewing);
  const { principal_id } = caller;
  const has_foreign_principal =
    principal_id !== voice && reviewers.some((member) => member.principal_id === principal_id);
  return placeOf({
    tier,
    is_escalated: isEscalated(decision, now_ms),
    approver: { principal_id, voice, has_foreign_principal },
    given: approvalsAmong(reviews.get(decision.decision_id) ?? []),
    absent: absentAt(reviewers, now_ms),
    requester: [requested_by.principal_id, voiceOf(reviewing, requested_by.key_id)],
    limits: policies.get(review_policy_version)?.approver_limits ?? [],
    held_minor: reservation.amount_minor,
    currency,
  }).ok;
}

/**
 * Returns what a decision needs to be allowed, and whether the caller may review it now: by scope, separation of duties, the
 * review's state, and the tier and limits of the review policy.
 */
export function approvalOf(reviewing: Reviewing, { decision, state }: DecisionRecord): SheetApproval {
  const { caller, reviewer, separates, keys, now_ms } = reviewing;
  const { requested_by } = decision;
  const requesting = keys.get(requested_by.key_id);
  const is_maker = requesting !== undefined && isByKeyMaker(requesting, reviewer);
  const now = stateAt(decision, state, now_ms);
  const may_review =
    caller.scopes.includes('review') &&
    decision.decision === 'REVIEW' &&
    whyFinal(decision, now, now.review_id) === null &&
    !isOwnRequest(requested_by, caller) &&
    !(is_maker && (separates || countsVoices(decision.review_tier ?? null))) &&
    !isRequesterVoice(reviewing, decision);
  const required = requiredApprovals(decision);
  const allowed = now.review_state === 'ALLOWED' ? 1 : 0;
  return {
    required,
    given: required === 1 ? allowed : now.approvals,
    signed: needsSignature(decision),
    may_allow: may_review && hasPlace(reviewing, decision),
    may_deny: may_review,
  };
}
