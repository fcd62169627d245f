import type { Decision } from '@purser/contract/decisions';
import type { Capability } from '@purser/contract/records';
import { type Allowance, earliestExpiry } from '@purser/rules/counters/allowances';
import type { Agent } from '@purser/rules/domain/agents';
import type { Origin } from '@purser/rules/domain/audit';
import { capabilityExpiry, capabilityStatusAt } from '@purser/rules/domain/capabilities';
import { completesReview, issuesCapability } from '@purser/rules/domain/decision-history';
import { capabilityOf, type DecisionState, effectiveNow } from '@purser/rules/domain/decision-states';
import type { DecisionKind } from '@purser/rules/domain/decisions';
import { type Reviewer, type ReviewRow, reviewBody } from '@purser/rules/domain/reviews';
import { recordEventData } from '@purser/rules/domain/webhooks';
import { countsVoices } from '@purser/rules/reviews/places';
import { signatureText } from '@purser/rules/signing/records/signatures';
import { type Command, done, refuse } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import type { Needs } from '../../needs/needs.ts';
import { answerQuestions, questionsAnswered } from '../../questions/answers-of-records.ts';
import { addAllowance } from '../allowances/record-allowance.ts';
import { whyRefused } from './checks.ts';
import { recordedTerms } from './recorded-terms.ts';
import { rememberMerchant } from './remember.ts';
import type { CreateReviewInput, ReadTier, ReviewCase } from './review-case.ts';
import { isMakerOf, reviewerOf } from './separation.ts';
import { standingRow } from './standing-approval.ts';
import { standingOf } from './voices.ts';

export interface CreatedReview {
  review: ReviewRow;
  effective_decision: DecisionKind;
  /** The issued capability; null if there is none. */
  capability: Capability | null;
  /** The standing approval that was made with it; null: none was. */
  standing: Allowance | null;
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
  decision: Decision,
  after: DecisionState,
  agent: Agent,
  now_ms: number,
): Capability | null {
  const issued = review.capability_expires_at === null ? null : capabilityOf(decision, after);
  return issued === null ? null : { ...issued, status: capabilityStatusAt(issued, agent, now_ms) };
}

/** The rows that the review policy needs; none where no policy applies. */
function needsOfTier(
  decision_id: string,
  {
    review_policy_version,
    reviewer_principal_id,
  }: Pick<ReadTier, 'review_policy_version' | 'reviewer_principal_id'>,
): Needs {
  if (review_policy_version === 0) return {};
  const principals = reviewer_principal_id === null ? [] : [reviewer_principal_id];
  return { reviews_of: [decision_id], review_policy_version, principals };
}

/** Gathers everything that may refuse a review; null where there is no such decision. */
function caseOf(set: WorkingSet, input: CreateReviewInput, origin: Origin): ReviewCase | null {
  const record = set.records.decision(input.decision_id);
  const agent = record === undefined ? undefined : set.agent(record.decision.agent.id);
  if (record === undefined || agent === undefined) return null;
  const reviewer = reviewerOf(set, origin);
  return {
    set,
    input,
    origin,
    ...record,
    agent,
    authority: set.authority(agent.agent_id)?.authority ?? null,
    reviewer,
    by_key_maker: isByMaker(set, record, input.requesting_key_id, reviewer),
    standing: standingOf(set, record.decision, input, origin),
  };
}

/** The review that a case becomes once nothing refuses it. */
function reviewOf(given: ReviewCase, capability_ttl_seconds: number): ReviewRow {
  const { set, input, origin, decision, state, authority, by_key_maker, standing } = given;
  const { action, reason_code, comment, supersedes } = input;
  const completes = completesReview(decision, state, action);
  const counts_voices = countsVoices(decision.review_tier ?? null);
  return {
    review_id: set.newId('review'),
    decision_id: decision.decision_id,
    action,
    reason_code,
    comment,
    supersedes,
    principal_id: origin.actor.principal_id,
    key_id: origin.actor.key_id,
    by_key_maker,
    voice: counts_voices && standing !== null ? standing.approver.voice : null,
    via: input.slack_account === null ? null : 'slack',
    ...recordedTerms(given),
    questions: completes ? questionsAnswered(decision, input, input.named) : [],
    signature: input.signature === null ? null : signatureText(input.signature.given),
    created_at: set.now,
    capability_expires_at: issuesCapability(decision, state, action)
      ? capabilityExpiry(
          set.now_ms,
          capability_ttl_seconds,
          authority ?? {},
          earliestExpiry(set.allowances.ofDecision(decision)),
        )
      : null,
  };
}

/** The rows that a review needs. */
const needsOf = ({
  decision_id,
  requesting_key_id,
  questions,
  remember,
  signature,
  slack_account,
  standing_approval,
  ...tier
}: CreateReviewInput): Needs => ({
  signing_keys: signature !== null,
  slack_links: slack_account !== null,
  decisions: [decision_id],
  ...(remember === null ? {} : { listed_merchants_of: [remember.agent_id] }),
  agents: [remember, standing_approval ?? null].flatMap((each) => each?.agent_id ?? []),
  allowances_of_agents: standing_approval === undefined ? [] : [standing_approval.agent_id],
  questions,
  authorities_of: [decision_id],
  allowances_of: [decision_id],
  shared_budgets: [],
  keys: requesting_key_id === null ? [] : [requesting_key_id],
  workspace: true,
  reviewers: true,
  webhooks: true,
  ...needsOfTier(decision_id, tier),
});

/** Returns what a review would record of its place and listing, for its statement; the same refusals apply, and nothing changes. */
export const prepareSignedReview: Command<CreateReviewInput, ReturnType<typeof recordedTerms>> = {
  name: 'beginSignedReview',
  needs: needsOf,
  apply(set, input, origin) {
    const given = caseOf(set, input, origin);
    if (given === null) return refuse('not_found', 'No such decision.');
    const refusal = whyRefused(given);
    return refusal === null ? done(recordedTerms(given)) : { kind: 'refused', refusal };
  },
};

/**
 * Records a person's review of a REVIEW decision. In ENFORCE a DENY is final and releases the hold; an ALLOW is final and
 * issues the capability once it is the last one that the tier needs. In SHADOW a later review that names it in `supersedes`
 * may correct it.
 */
export function makeCreateReview(options: {
  capability_ttl_seconds: number;
}): Command<CreateReviewInput, CreatedReview> {
  return {
    name: 'createReview',
    needs: needsOf,
    apply(set, input, origin) {
      const given = caseOf(set, input, origin);
      if (given === null) return refuse('not_found', 'No such decision.');
      const refusal = whyRefused(given);
      if (refusal !== null) return { kind: 'refused', refusal };

      // After this point the review counts: nothing may refuse it.
      const { decision, agent } = given;
      const review = reviewOf(given, options.capability_ttl_seconds);
      const { after, event_id } = set.records.addReview(review);
      answerQuestions(set, decision, reviewBody(review));
      if (review.remember !== null && input.remember !== null)
        rememberMerchant(set, decision, input.remember, origin);
      const standing = standingRow(given);
      if (standing !== null) addAllowance(set, standing, origin);
      const effective_decision = effectiveNow(decision, after);
      const capability = issuedBy(review, decision, after, agent, set.now_ms);
      const issued = capability === null ? {} : { capability };
      const body = { ...reviewBody(review), effective_decision, ...issued };
      const data = recordEventData(body, { ...decision, effective_decision });
      set.publish('decision.review.recorded', data, event_id);
      return done({ review, effective_decision, capability, standing });
    },
  };
}
