import type { Label } from '@purser/contract/records';
import type { PurposeAssessment } from '@purser/rules/domain/assessment';
import { actionIn, assessmentIn } from '@purser/rules/domain/decision-document';
import type { DecisionKind, OutcomeState, ReviewState } from '@purser/rules/domain/decisions';
import type { Queryable } from '../storage/database.ts';
import { actionOf, assessmentOf } from '../storage/decisions.ts';

/** The source of a suggestion: one decision, with the verdicts of people and the payment rail. */
export interface SuggestionFacts {
  decision_id: string;
  merchant: string;
  payee_id: string | null;
  description: string | null;
  amount_minor: number;
  currency: string;
  created_at: string;
  decision: DecisionKind;
  assessment: PurposeAssessment | null;
  review_state: ReviewState | null;
  label: Label['label'] | null;
  outcome_state: OutcomeState;
  /** All that counts of its outcomes is the rail's word. */
  verified: boolean;
}

type FactsRow = Omit<SuggestionFacts, 'payee_id' | 'description' | 'assessment'> & {
  purpose_part: string;
  action_part: string;
};

/** The decisions of an agent before `before` and not before `from`, newest first. */
export async function listSuggestionFacts(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  range: { before: string; from: string; limit: number },
): Promise<SuggestionFacts[]> {
  const result = await db.query<FactsRow & { workspace_id: string }>({
    name: 'list_suggestion_facts',
    text: `select d.decision_id, d.merchant, d.requested_amount_minor as amount_minor, d.currency, d.created_at, d.decision,
        s.review_state, coalesce(s.outcome_state, 'NONE') as outcome_state, coalesce(s.verified, false) as verified,
        l.label, ${assessmentOf('d.document')} as purpose_part,
        ${actionOf('d.document')} as action_part
      from (
        select * from decisions where workspace_id = $1 and agent_id = $2 and agent_id <> ''
          and decision_id < $3 and decision_id >= $4 order by decision_id desc limit $5) as d
      left join lateral (
        select * from decision_states s where s.workspace_id = $1 and s.decision_id = d.decision_id limit 1) as s on true
      left join lateral (
        select label from labels l where l.workspace_id = $1 and l.label_id = s.label_id limit 1) as l on true
      order by d.decision_id desc`,
    values: [workspace_id, agent_id, range.before, range.from, range.limit],
  });
  return result.rows.map(({ purpose_part, action_part, ...row }) => {
    const { payee_id = null, description = null } = actionIn(action_part);
    return { ...row, payee_id, description, assessment: assessmentIn(purpose_part) };
  });
}
