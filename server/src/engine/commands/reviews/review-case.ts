import type { NewStandingApproval } from '@purser/contract/allowances/fields';
import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import type { Review } from '@purser/contract/records';
import type { Agent } from '@purser/rules/domain/agents';
import type { Origin } from '@purser/rules/domain/audit';
import type { DecisionState } from '@purser/rules/domain/decision-states';
import type { ReviewAction, Reviewer } from '@purser/rules/domain/reviews';
import type { Approver, ReviewPlace } from '@purser/rules/reviews/places';
import type { WorkingSet } from '../../lane/working-set.ts';
import type { ReadDecision } from '../../questions/answers-of-records.ts';
import type { GivenSignature } from '../signing/given-signature.ts';

/** A listing of the merchant that a review asks for. */
export interface Remembering {
  remember: NonNullable<Review['remember']>;
  /** The agent of the decision. */
  agent_id: string;
  /** The caller is no administrator, and may do this only where the authority says so. */
  is_reviewer: boolean;
}

/** A standing approval that a review asks for. */
export interface MadeStanding {
  body: NewStandingApproval;
  /** The agent of the decision. */
  agent_id: string;
  /** The caller is no administrator, and may do this only as far as the authority lets reviewers. */
  is_reviewer: boolean;
}

/** Facts of a decision and its reviewer that the review policy needs. They were read before, and never change. */
export interface ReadTier {
  /** The version that applies to the decision; 0: none. */
  review_policy_version: number;
  /** The principal of the reviewer. */
  reviewer_principal_id: string | null;
  /** The topmost key of the making of the requesting and the reviewing key, by key id. */
  topmost_keys: ReadonlyMap<string, string>;
}

/** For a decision to which no review policy applies. */
export const NO_POLICY: ReadTier = {
  review_policy_version: 0,
  reviewer_principal_id: null,
  topmost_keys: new Map(),
};

export interface CreateReviewInput extends ReadDecision, ReadTier {
  decision_id: string;
  action: ReviewAction;
  reason_code: string;
  comment: string | null;
  supersedes: string | null;
  /** The listing of the merchant that the review asks for; null: none. */
  remember: Remembering | null;
  /** The standing approval that an ALLOW makes. */
  standing_approval?: MadeStanding;
  /** The questions that a DENY answers; null: those that it is about by default. */
  named: readonly string[] | null;
  /** The reviewer's signature, and the `data_hash` of the decision's event; null where there is none. */
  signature: (GivenSignature & { decision_hash: string }) | null;
  /** The account in Slack whose click it is; null: it came by a call of the API. */
  slack_account: string | null;
  /** True where the review is only prepared, so that it can be signed. */
  is_prepared?: boolean;
}

/** Everything that may refuse a review, as the batch finds it. */
export interface ReviewCase {
  set: WorkingSet;
  input: CreateReviewInput;
  origin: Origin;
  decision: Decision;
  state: DecisionState;
  agent: Agent;
  /** The authority in force; null where the agent has none. */
  authority: Authority | null;
  reviewer: Reviewer;
  /** The reviewer created the key that requested the spend. */
  by_key_maker: boolean;
  /** Null where no review policy applies to the decision. */
  standing: Standing | null;
}

/** The reviewer's side of a review: the voices, and the place that an ALLOW uses. */
export interface Standing {
  approver: Approver;
  /** True if the tier counts voices, and the reviewer and the requester have the same one. */
  is_requester: boolean;
  place: ReviewPlace;
}
