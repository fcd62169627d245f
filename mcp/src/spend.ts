import { REASON_ROWS } from '@purser/contract/reasons';
import { remedySentence } from '@purser/contract/values/remedies';
import type { Decision } from './decision.ts';
import { formatMoney, majorUnits } from './money.ts';
import { bounded } from './text.ts';

/** How a spend stands, in the words that a model is given. */
export interface Spend {
  [name: string]: unknown;
  decision_id: string;
  status: 'ALLOWED' | 'WAITING_FOR_REVIEW' | 'DENIED';
  mode: 'SHADOW' | 'ENFORCE';
  authorized_amount: string;
  authorized_amount_minor: number;
  currency: string;
  reason_code: string | null;
  explanation: string;
  outcome_state: string;
  expires_at: string | null;
  remedies: SpendRemedy[];
  next_step: string;
}

type Remedy = NonNullable<Decision['remedies']>[number];

/** A way out of a refusal, or of waiting. */
export interface SpendRemedy {
  type: Remedy['type'];
  /** For a smaller amount: the largest that would do. */
  max_amount?: string;
  currency?: string;
  /** When to ask again, or until when a review is waited for. */
  at?: string | null;
  /** How the spend would then stand. */
  then: Spend['status'];
}

const DO_NOT_BUY = 'Do not buy this, and do not try another way; tell your principal.';

const STATUSES = { ALLOW: 'ALLOWED', REVIEW: 'WAITING_FOR_REVIEW', DENY: 'DENIED' } as const;

/** Remedies that an agent can use itself. */
const WAYS_OUT: ReadonlySet<Remedy['type']> = new Set([
  'REDUCE_AMOUNT',
  'RETRY_AT',
  'USE_CURRENCY',
  'CHOOSE_OTHER_MERCHANT',
] as const);

/** The effective status. SHADOW stops nothing; the would-be decision is for people only. */
export function spendOf(decision: Decision): Spend {
  const { decision_id, mode, currency, outcome_state } = decision;
  const status = statusOf(decision);
  const is_shadow = mode === 'SHADOW';
  const amount_minor = amountOf(decision, status);
  const remedies = remediesOf(decision, status);
  return {
    decision_id,
    status,
    mode,
    authorized_amount: majorUnits(amount_minor, currency),
    authorized_amount_minor: amount_minor,
    currency,
    reason_code: is_shadow ? null : decision.reason_code,
    explanation: is_shadow ? 'Purser watches this agent and stops nothing.' : explanationOf(decision),
    outcome_state,
    expires_at: expiryOf(decision, status),
    remedies: shownRemedies(remedies, currency),
    next_step: nextStepOf(decision, status, formatMoney(amount_minor, currency), remedies),
  };
}

/** The remedies of the decision while it is in effect; none after a review. */
function remediesOf(decision: Decision, status: Spend['status']): readonly Remedy[] {
  const { outcome_state, remedies = [] } = decision;
  const is_over = outcome_state !== 'NONE' || status === 'ALLOWED' || STATUSES[decision.decision] !== status;
  return is_over ? [] : remedies;
}

const shownRemedies = (remedies: readonly Remedy[], currency: string): SpendRemedy[] =>
  remedies.map((remedy) => ({
    type: remedy.type,
    ...(remedy.type === 'REDUCE_AMOUNT' ? { max_amount: majorUnits(remedy.max_amount_minor, currency) } : {}),
    ...(remedy.type === 'USE_CURRENCY' ? { currency: remedy.currency } : {}),
    ...(remedy.type === 'RETRY_AT' ? { at: remedy.at } : {}),
    ...(remedy.type === 'WAIT_FOR_REVIEW' ? { at: remedy.expires_at } : {}),
    then: STATUSES[remedy.then],
  }));

/** The next step after a denial: one of the remedies, if there are any. */
function afterDenial(remedies: readonly Remedy[], currency: string): string {
  const ways = remedies.filter(({ type }) => WAYS_OUT.has(type));
  if (ways.length === 0) return DO_NOT_BUY;
  // An agent compares times, so it gets them exactly.
  const sentences = ways.map((remedy) => remedySentence(remedy, currency, (time) => time));
  return `Do not buy this as it is. If your task allows it, make a new request under a new name in one of these ways only: ${sentences.join(' ')} Otherwise tell your principal.`;
}

function statusOf({ effective_decision, review_state }: Decision): Spend['status'] {
  if (effective_decision === 'ALLOW') return 'ALLOWED';
  if (effective_decision === 'REVIEW' && review_state === 'PENDING') return 'WAITING_FOR_REVIEW';
  return 'DENIED';
}

function amountOf(decision: Decision, status: Spend['status']): number {
  if (status !== 'ALLOWED') return 0;
  return decision.mode === 'SHADOW' ? decision.requested_amount_minor : decision.authorized_amount_minor;
}

function expiryOf({ capability, reservation }: Decision, status: Spend['status']): string | null {
  if (status === 'ALLOWED') return capability?.expires_at ?? null;
  return status === 'WAITING_FOR_REVIEW' ? reservation.expires_at : null;
}

function explanationOf(decision: Decision): string {
  if (decision.review_state === 'ALLOWED') return 'A person allowed it.';
  if (decision.review_state === 'DENIED') return 'A person denied it.';
  if (decision.review_state === 'EXPIRED') return 'Nobody reviewed it in time.';
  const { reason_codes, explanation } = decision;
  if (!reason_codes.some((code) => REASON_ROWS[code]?.is_secret)) return bounded(explanation);
  return reason_codes.map((code) => REASON_ROWS[code]?.told ?? code).join(' ');
}

function nextStepOf(
  decision: Decision,
  status: Spend['status'],
  amount: string,
  remedies: readonly Remedy[],
): string {
  const { outcome_state, capability, currency } = decision;
  if (outcome_state === 'FAILED' || outcome_state === 'CANCELLED')
    return 'This purchase is over. A new attempt is a new purchase: ask for it under a new name.';
  if (outcome_state !== 'NONE') return 'This was already bought and reported: do not buy it again.';
  if (status === 'WAITING_FOR_REVIEW')
    return 'Do not buy yet: a person must allow it. Call wait_for_review with this decision_id.';
  if (status === 'DENIED') return afterDenial(remedies, currency);
  if (capability?.status === 'EXPIRED' || capability?.status === 'REVOKED')
    return 'Do not buy: the permission expired. Ask again under a new name.';
  if (capability?.status === 'CONSUMED')
    return 'The payment has started: do not pay a second time. Call report_outcome once you know how it ended.';
  return `You may pay at most ${amount} for this, once. Then call report_outcome.`;
}
