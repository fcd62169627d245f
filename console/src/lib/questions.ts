import { COVERED_FACTOR, deniedByDefault as denied, doubted } from '@purser/contract/purpose/answered-by';
import type { Decision, Question } from '@purser/sdk';
import { formatMoney } from './money.ts';

type Verdict = 'ALLOW' | 'DENY';
export interface Amount {
  currency: string;
  amount_minor: number;
}

/** The questions that a denial of the request may be about: those that no reviewer has answered with yes. */
export const doubtsOf = ({ purpose: { questions = [] } }: Pick<Decision, 'purpose'>): readonly Question[] =>
  doubted(questions);

/** The ids of the questions that a denial is about unless the reviewer chooses others. */
export const deniedByDefault = (decision: Pick<Decision, 'purpose' | 'reason_codes'>): readonly string[] =>
  denied(decision).map(({ question_id }) => question_id);

/** The effect of reviewing one request, or several together. */
export interface Settled {
  /** Each question once. */
  questions: readonly Question[];
  /** The largest requested amount of those that ask one, by currency. */
  amounts: readonly Amount[];
}

/**
 * The questions that reviews of these requests answer and that are open now. A denial answers those in `named`, or the
 * default of each request.
 */
export function settledBy(
  decisions: readonly Pick<Decision, 'purpose' | 'reason_codes' | 'currency' | 'requested_amount_minor'>[],
  verdict: Verdict,
  named?: readonly string[],
): Settled {
  const questions = new Map<string, Question>();
  const amounts = new Map<string, number>();
  for (const decision of decisions) {
    const ids = named ?? deniedByDefault(decision);
    const answered = doubtsOf(decision).filter(
      ({ question_id }) => verdict === 'ALLOW' || ids.includes(question_id),
    );
    for (const question of answered) questions.set(question.question_id, question);
    if (answered.length === 0) continue;
    const { currency, requested_amount_minor } = decision;
    amounts.set(currency, Math.max(amounts.get(currency) ?? 0, requested_amount_minor));
  }
  return {
    questions: [...questions.values()],
    amounts: [...amounts].map(([currency, amount_minor]) => ({ currency, amount_minor })),
  };
}

/** The amounts that a YES covers after people allowed these. */
function coveredBy(amounts: readonly Amount[]): string {
  const covered = amounts
    .map(({ currency, amount_minor }) => formatMoney(amount_minor * COVERED_FACTOR, currency))
    .join(' or ');
  return covered === '' ? 'the review threshold' : `${covered}, or the review threshold if it is higher`;
}

/** The effect of a YES to one question or several. `amounts`: those of the spends that asked it, null if they are not known. */
export function yesInWords(amounts: readonly Amount[] | null, count = 1): string {
  const asked = count === 1 ? 'this' : 'these';
  const bound =
    amounts !== null && count === 1
      ? coveredBy(amounts)
      : 'three times what was requested, or the review threshold if it is higher';
  return `From the next request on, reviewers are not asked ${asked} again for amounts up to ${bound}.`;
}

/** The reach of a YES that was given for these amounts. */
export const coverInWords = (allowed: readonly Amount[]): string =>
  `Covers amounts up to ${coveredBy(allowed)}.`;

/** The effect of a NO. */
export const NO_IN_WORDS = 'From the next request on, the same counts as against the purpose.';

/** "1 question", "2 questions". */
export const questionCount = (count: number): string => `${count} ${count === 1 ? 'question' : 'questions'}`;
