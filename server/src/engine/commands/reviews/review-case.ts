import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import type { Agent } from '@purser/rules/domain/agents';
import type { Origin } from '@purser/rules/domain/audit';
import type { DecisionState } from '@purser/rules/domain/decision-states';
import type { ReviewAction, Reviewer } from '@purser/rules/domain/reviews';
import type { WorkingSet } from '../../lane/working-set.ts';
import type { ReadDecision } from '../../questions/answers-of-records.ts';

export interface CreateReviewInput extends ReadDecision {
  decision_id: string;
  action: ReviewAction;
  reason_code: string;
  comment: string | null;
  supersedes: string | null;
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
