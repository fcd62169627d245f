import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import type { Review } from '@purser/contract/records';
import type { Agent } from '@purser/rules/domain/agents';
import type { Origin } from '@purser/rules/domain/audit';
import type { DecisionState } from '@purser/rules/domain/decision-states';
import type { ReviewAction, Reviewer } from '@purser/rules/domain/reviews';
import type { WorkingSet } from '../../lane/working-set.ts';
import type { ReadDecision } from '../../questions/answers-of-records.ts';

/** A listing of the merchant that a review asks for. */
export interface Remembering {
  remember: NonNullable<Review['remember']>;
  /** The agent of the decision. */
  agent_id: string;
  /** The caller is no administrator, and may do this only where the authority says so. */
  is_reviewer: boolean;
}

export interface CreateReviewInput extends ReadDecision {
  decision_id: string;
  action: ReviewAction;
  reason_code: string;
  comment: string | null;
  supersedes: string | null;
  /** The listing of the merchant that the review asks for; null: none. */
  remember: Remembering | null;
  /** The questions that a DENY answers; null: those that it is about by default. */
  named: readonly string[] | null;
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
}
