import { type CardAuthorization, merchantKey } from './card-questions.ts';

/** An authorization that a card rail has consumed a capability for, as the store has it. */
export interface Authorized {
  card: string;
  decision_id: string;
  consumed_minor: number;
  approved_minor: number;
  currency: string;
  /** As `merchantKey` has it. */
  merchant: string;
  /** The answer to each question. */
  answers: Record<string, boolean>;
  captures: Record<string, number>;
  refunds: Record<string, number>;
  is_closed: boolean;
  is_released: boolean;
  /** The amount reported as executed, or `released`. */
  reported: number | 'released' | null;
}

/** An authorization for which nothing has happened yet. */
export const NOTHING = {
  approved_minor: 0,
  answers: {},
  captures: {},
  refunds: {},
  is_closed: false,
  is_released: false,
  reported: null,
};

/** Answers from what was consumed for this authorization before: a repeated question, or an increment. */
export function answerFromConsumed(
  known: Authorized,
  question: string,
  asked: CardAuthorization,
  checks_merchant: boolean,
): { approve: boolean; why: string; next: Authorized } {
  const earlier = Object.hasOwn(known.answers, question) ? known.answers[question] : undefined;
  if (earlier !== undefined) return { approve: earlier, why: 'same answer as before', next: known };
  const approved_minor = known.approved_minor + asked.amount_minor;
  const is_over = known.is_closed || known.is_released || asked.card !== known.card;
  const fits = !is_over && approved_minor <= known.consumed_minor && asked.currency === known.currency;
  const is_merchant = !checks_merchant || merchantKey(asked.merchant_descriptor) === known.merchant;
  const approve = fits && is_merchant;
  const next = { ...known, answers: { ...known.answers, [question]: approve } };
  if (approve) return { approve, why: 'within the consumed amount', next: { ...next, approved_minor } };
  return { approve, why: fits ? 'its merchant differs' : 'not within the consumed amount', next };
}
