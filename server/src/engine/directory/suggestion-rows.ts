import type { PurposeAssessment } from '@purser/rules/domain/assessment';
import type { DecisionKind, OutcomeState, ReviewState } from '@purser/rules/domain/decisions';
import type { Label } from '@purser/rules/domain/labels';
import type { Queryable } from '../storage/database.ts';

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

/**
 * Where the assessment and the action are in a document, which the database must not parse as JSON: see `PURPOSE_MARK` in
 * reports/fact-rows.ts.
 */
const PURPOSE_MARK = '"purpose":{"assessment":"';
const ACTION_MARK = ',"action":';
const AFTER_ACTION_MARK = ',"task":';

/** The payee and the description in the text of an action; nulls where it is in another format than today's. */
function actionIn(part: string): { payee_id: string | null; description: string | null } {
  try {
    const { payee_id = null, description = null } = JSON.parse(part) as {
      payee_id?: string;
      description?: string;
    };
    return { payee_id, description };
  } catch {
    return { payee_id: null, description: null };
  }
}

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
        l.label, substr(d.document, strpos(d.document, '${PURPOSE_MARK}') + ${PURPOSE_MARK.length}, 30) as purpose_part,
        split_part(split_part(d.document, '${ACTION_MARK}', 2), '${AFTER_ACTION_MARK}', 1) as action_part
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
  return result.rows.map(({ purpose_part, action_part, ...row }) => ({
    ...row,
    ...actionIn(action_part),
    assessment: /^PURPOSE_(?:ALIGNED|UNCLEAR|MISALIGNED)(?=")/.exec(
      purpose_part,
    )?.[0] as PurposeAssessment | null,
  }));
}
