import type { Capability } from '@purser/contract/records';
import type { Agent } from '@purser/rules/domain/agents';
import { madeBy, type Origin } from '@purser/rules/domain/audit';
import { capabilityExpiry, capabilityStatusAt } from '@purser/rules/domain/capabilities';
import { issuesCapability } from '@purser/rules/domain/decision-history';
import { capabilityOf, type DecisionState, effectiveNow } from '@purser/rules/domain/decision-states';
import type { DecisionKind } from '@purser/rules/domain/decisions';
import {
  isByKeyMaker,
  isOwnRequest,
  type ReviewAction,
  type Reviewer,
  type ReviewRow,
  reviewBody,
  whyFinal,
  whyUnreviewable,
} from '@purser/rules/domain/reviews';
import { recordEventData } from '@purser/rules/domain/webhooks';
import { whyNotAllowed } from '@purser/rules/policy/may-pay';
import { type Command, done, refuse } from '../lane/command.ts';
import type { WorkingSet } from '../lane/working-set.ts';

export interface CreateReviewInput {
  decision_id: string;
  /** The key that requested the decision, as the decision says; null where there is no such decision. */
  requesting_key_id: string | null;
  action: ReviewAction;
  reason_code: string;
  comment: string | null;
  supersedes: string | null;
}

export interface CreatedReview {
  review: ReviewRow;
  effective_decision: DecisionKind;
  /** The issued capability; null if there is none. */
  capability: Capability | null;
}

const MAKER_FORBIDDEN =
  'The reviewer created the key that requested the spend, directly or through other keys; another member must review it.';

/** Returns the reviewer, with the person who is signed in or at the root of the key. */
function reviewerOf(set: WorkingSet, { actor }: Origin): Reviewer {
  const key = actor.key_id === null ? undefined : set.keys.get(actor.key_id);
  const { principal_id, person } = madeBy(actor, key);
  return { principal_id, person };
}

/**
 * Returns whether the maker of the requesting key may not review: always under `MAKER`, under `AUTO` if a member other than
 * the person behind the review may. A principal that the reviewing key carries makes nobody that person.
 */
function separatesMakers(set: WorkingSet, { principal_id, person }: Reviewer): boolean {
  const separation = set.workspace()?.separation_of_duties ?? 'MAKER';
  if (separation !== 'AUTO') return separation === 'MAKER';
  return set.people.reviewers().some((member) => member.principal_id !== (person ?? principal_id));
}

type DecisionRecord = NonNullable<ReturnType<WorkingSet['records']['decision']>>;

/** Returns whether the reviewer made the key that requested the spend. Throws where another key was loaded than that one. */
function isByMaker(set: WorkingSet, { decision }: DecisionRecord, key_id: string | null, reviewer: Reviewer) {
  if (decision.requested_by.key_id !== key_id) {
    throw new Error(
      `${decision.decision_id} was requested by a different key than the review was prepared for`,
    );
  }
  const requesting_key = set.keys.get(key_id);
  return requesting_key !== undefined && isByKeyMaker(requesting_key, reviewer);
}

/** The capability that a review issued, as it is now: that of a revoked agent is void from the beginning. */
function issuedBy(
  review: ReviewRow,
  { decision }: DecisionRecord,
  after: DecisionState,
  agent: Agent,
  now_ms: number,
): Capability | null {
  const issued = review.capability_expires_at === null ? null : capabilityOf(decision, after);
  return issued === null ? null : { ...issued, status: capabilityStatusAt(issued, agent, now_ms) };
}

/**
 * Records a person's review of a REVIEW decision. In ENFORCE it is final: ALLOW issues the capability, DENY releases the
 * hold. In SHADOW a later review that names it in `supersedes` may correct it.
 */
export function makeCreateReview(options: {
  capability_ttl_seconds: number;
}): Command<CreateReviewInput, CreatedReview> {
  return {
    name: 'createReview',
    needs: ({ decision_id, requesting_key_id }) => ({
      decisions: [decision_id],
      authorities_of: [decision_id],
      shared_budgets: [],
      keys: requesting_key_id === null ? [] : [requesting_key_id],
      workspace: true,
      reviewers: true,
      webhooks: true,
    }),
    apply(set, input, origin) {
      const record = set.records.decision(input.decision_id);
      const agent = record === undefined ? undefined : set.agent(record.decision.agent.id);
      if (record === undefined || agent === undefined) return refuse('not_found', 'No such decision.');
      const { decision, state } = record;
      const { action } = input;
      const unreviewable = whyUnreviewable(decision);
      if (unreviewable !== null) return refuse(unreviewable.code, unreviewable.message);
      if (isOwnRequest(decision.requested_by, origin.actor))
        return refuse('self_review_forbidden', 'The requester of a spend cannot review it.');
      const reviewer = reviewerOf(set, origin);
      const by_key_maker = isByMaker(set, record, input.requesting_key_id, reviewer);
      if (by_key_maker && separatesMakers(set, reviewer))
        return refuse('self_review_forbidden', MAKER_FORBIDDEN);
      const final = whyFinal(decision, state, input.supersedes);
      if (final !== null) return refuse(final.code, final.message);
      const authority = set.authority(agent.agent_id)?.authority ?? null;
      if (decision.mode === 'ENFORCE' && action === 'ALLOW') {
        const budgets = set.shared_budgets.all();
        const why = whyNotAllowed({ decision, state, agent, authority, budgets, now_ms: set.now_ms });
        if (why !== null) return refuse(why.code, why.message);
      }

      // After this point the review counts: nothing may refuse it.
      const review: ReviewRow = {
        review_id: set.newId('review'),
        decision_id: decision.decision_id,
        action,
        reason_code: input.reason_code,
        comment: input.comment,
        supersedes: input.supersedes,
        principal_id: origin.actor.principal_id,
        key_id: origin.actor.key_id,
        by_key_maker,
        created_at: set.now,
        capability_expires_at: issuesCapability(decision, state, action)
          ? capabilityExpiry(set.now_ms, options.capability_ttl_seconds, authority ?? {})
          : null,
      };
      const { after, event_id } = set.records.addReview(review);
      const effective_decision = effectiveNow(decision, after);
      const capability = issuedBy(review, record, after, agent, set.now_ms);
      const issued = capability === null ? {} : { capability };
      const body = { ...reviewBody(review), effective_decision, ...issued };
      const data = recordEventData(body, { ...decision, effective_decision });
      set.publish('decision.review.recorded', data, event_id);
      return done({ review, effective_decision, capability });
    },
  };
}
