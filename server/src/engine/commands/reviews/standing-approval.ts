import type { Decision } from '@purser/contract/decisions';
import type { ReasonCode } from '@purser/contract/reasons';
import type { Allowance } from '@purser/rules/counters/allowances';
import { standingAnswers, standingBody } from '@purser/rules/reviews/standing-offer';
import type { Refusal } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import { type Made, whyNotMade } from '../allowances/new-allowance.ts';
import { newRow, whyNoStanding } from '../allowances/record-allowance.ts';
import { whyOverLimit } from './decide-allowance.ts';
import type { MadeStanding, ReviewCase } from './review-case.ts';

/** The ingredients of the standing approval that a review makes: what it is for comes from the decision. */
function madeOf(set: WorkingSet, { body }: MadeStanding, decision: Decision, answers: ReasonCode[]): Made {
  const agent = set.agent(decision.agent.id) ?? null;
  const given = standingBody(decision, body, answers);
  return { body: given, agent, budget: null, parent: null, now_ms: set.now_ms };
}

const invalid = (problem: string): Refusal => ({
  code: 'invalid_request',
  message: `standing_approval: ${problem}`,
});

/** Returns why a review may not make the standing approval that it asks for; null: it may, or asks for none. */
export function whyNotStanding({ set, input, origin, decision, authority }: ReviewCase): Refusal | null {
  const { standing_approval: asked, action } = input;
  if (asked === undefined) return null;
  if (action !== 'ALLOW') return invalid('goes with ALLOW alone');
  const found = standingAnswers(decision);
  if ('problem' in found) return invalid(found.problem);
  const made = madeOf(set, asked, decision, found.answers);
  const refusal = whyNotMade(made, 'standing_approval.');
  if (refusal !== null) return refusal;
  const row = { currency: decision.currency, amount_minor: asked.body.amount_minor };
  return (
    (asked.is_reviewer ? whyOverLimit(authority, row) : null) ??
    whyNoStanding(set, [newRow(set, made, origin, {})])
  );
}

/** Makes the row of the standing approval of a review, which `whyNotStanding` has let pass; null: it asks for none. */
export function standingRow({ set, input, origin, decision }: ReviewCase): Allowance | null {
  const found = standingAnswers(decision);
  if (input.standing_approval === undefined || 'problem' in found) return null;
  const made = madeOf(set, input.standing_approval, decision, found.answers);
  return newRow(set, made, origin, { source: 'REVIEW' });
}
