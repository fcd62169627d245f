import type { Capability } from '@purser/contract/records';
import type { Agent } from '@purser/rules/domain/agents';
import { capabilityExpiry, capabilityStatusAt } from '@purser/rules/domain/capabilities';
import { issuesCapability } from '@purser/rules/domain/decision-history';
import { capabilityOf, type DecisionState, effectiveNow } from '@purser/rules/domain/decision-states';
import type { DecisionKind } from '@purser/rules/domain/decisions';
import { type Reviewer, type ReviewRow, reviewBody } from '@purser/rules/domain/reviews';
import { recordEventData } from '@purser/rules/domain/webhooks';
import { type Command, done, refuse } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import { answerQuestions, questionsAnswered } from '../../questions/answers-of-records.ts';
import { whyRefused } from './checks.ts';
import { rememberMerchant } from './remember.ts';
import type { CreateReviewInput } from './review-case.ts';
import { isMakerOf, reviewerOf } from './separation.ts';

export interface CreatedReview {
  review: ReviewRow;
  effective_decision: DecisionKind;
  /** The issued capability; null if there is none. */
  capability: Capability | null;
}

type DecisionRecord = NonNullable<ReturnType<WorkingSet['records']['decision']>>;

/** Returns whether the reviewer made the key that requested the spend. Throws where another key was loaded than that one. */
function isByMaker(set: WorkingSet, { decision }: DecisionRecord, key_id: string | null, reviewer: Reviewer) {
  if (decision.requested_by.key_id !== key_id) {
    throw new Error(
      `${decision.decision_id} was requested by a different key than the review was prepared for`,
    );
  }
  return isMakerOf(set, key_id, reviewer);
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
    needs: ({ decision_id, requesting_key_id, questions, remember }) => ({
      decisions: [decision_id],
      ...(remember === null ? {} : { agents: [remember.agent_id], listed_merchants_of: [remember.agent_id] }),
      questions,
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
      const authority = set.authority(agent.agent_id)?.authority ?? null;
      const reviewer = reviewerOf(set, origin);
      const by_key_maker = isByMaker(set, record, input.requesting_key_id, reviewer);
      const refusal = whyRefused({
        set,
        input,
        origin,
        decision,
        state,
        agent,
        authority,
        reviewer,
        by_key_maker,
      });
      if (refusal !== null) return { kind: 'refused', refusal };

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
        questions: questionsAnswered(decision, input, input.named),
        remember: input.remember?.remember ?? null,
        created_at: set.now,
        capability_expires_at: issuesCapability(decision, state, action)
          ? capabilityExpiry(set.now_ms, options.capability_ttl_seconds, authority ?? {})
          : null,
      };
      const { after, event_id } = set.records.addReview(review);
      answerQuestions(set, decision, review);
      if (input.remember !== null) rememberMerchant(set, decision, input.remember, origin);
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
