import type { CreateAllowance, NewStandingApproval } from '@purser/contract/allowances/fields';
import type { Decision } from '@purser/contract/decisions';
import type { ReasonCode } from '@purser/contract/reasons';
import type { StandingOffer } from '@purser/contract/reviews/sheet';
import type { ANSWERABLE } from '@purser/contract/values/allowances';
import { answerableReasons } from '../policy/standing-approvals.ts';
import { namedMerchant } from './remember.ts';

const BECAUSE: Record<(typeof ANSWERABLE)[number], string> = {
  PURPOSE_UNCLEAR: 'it is unclear if they fit the purpose',
  REVIEW_THRESHOLD_EXCEEDED: 'they are over the review threshold',
  NEW_MERCHANT: 'the merchant or the payee is new',
  MERCHANT_NOT_ALLOWED: 'the merchant is not on the list of allowed merchants',
  ACTION_TYPE_NEEDS_REVIEW: 'purchases of their type need one',
  OUTSIDE_ACTIVE_HOURS: 'they come outside the active hours',
};

/** Either the reasons that a standing approval made by a decision's review answers, or why it may make none. */
export type StandingAnswers =
  | { answers: NonNullable<ReturnType<typeof answerableReasons>> }
  | { problem: string };

/** Returns what a standing approval answers that the review of a decision makes, or why it may make none. */
export function standingAnswers({
  policy_trace,
  review_tier,
}: Pick<Decision, 'policy_trace' | 'review_tier'>): StandingAnswers {
  const answers = answerableReasons(policy_trace);
  if (answers === null)
    return { problem: 'the decision has a reason that only a review of its own can answer' };
  if (review_tier !== undefined && (review_tier.approvals > 1 || review_tier.signed === true))
    return { problem: 'requests that need several or signed approvals are never answered ahead' };
  return { answers };
}

/** Returns the allowance that a review makes when it answers the same spends ahead: what it is for comes from the decision. */
export function standingBody(
  { agent, action, currency }: Pick<Decision, 'action' | 'currency'> & { agent: { id: string } },
  body: NewStandingApproval,
  answers: readonly ReasonCode[],
): CreateAllowance {
  const { payee_id } = action;
  return {
    agent: agent.id,
    currency,
    period: 'MONTH',
    ...body,
    merchants: [action.merchant],
    ...(payee_id === undefined ? {} : { payee_ids: [payee_id] }),
    answers: answers as NonNullable<CreateAllowance['answers']>,
    automatic: true,
  };
}

/**
 * Returns the offer to answer later requests like a decision ahead. `most_minor` is the most that the reviewer may grant, in minor
 * units; null: any amount.
 */
export function standingOffer(
  decision: Decision,
  most_minor: number | null,
  may_allow: boolean,
): StandingOffer {
  const found = standingAnswers(decision);
  if (!may_allow || most_minor === 0 || !('answers' in found))
    return { offered: false, effect: null, most_minor: null };
  const because = found.answers.map((code) => BECAUSE[code as keyof typeof BECAUSE]).join(', or because ');
  return {
    offered: true,
    effect: `Up to this amount, requests of this agent for ${namedMerchant(decision)} no longer need a review because ${because}.`,
    most_minor,
  };
}
