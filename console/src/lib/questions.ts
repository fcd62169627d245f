import { answeredBy, COVERED_FACTOR } from '@purser/contract/purpose/answered-by';
import type { Decision, Question } from '@purser/sdk';
import { formatMoney } from './money.ts';

type Verdict = 'ALLOW' | 'DENY';
export interface Amount {
  currency: string;
  amount_minor: number;
}

/** The questions that a denial of the request may be about: those that no reviewer has answered with yes. */
export const doubtsOf = ({ purpose: { questions = [] } }: Pick<Decision, 'purpose'>): readonly Question[] =>
  questions.filter(({ answered }) => answered?.answer !== 'YES');

/** The ids of the questions that a denial is about unless the reviewer chooses others. */
export const deniedByDefault = (decision: Pick<Decision, 'purpose'>): readonly string[] =>
  answeredBy(doubtsOf(decision), 'NO').map(({ question_id }) => question_id);

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
  decisions: readonly Pick<Decision, 'purpose' | 'currency' | 'requested_amount_minor'>[],
  verdict: Verdict,
  named?: readonly string[],
): Settled {
  const questions = new Map<string, Question>();
  const amounts = new Map<string, number>();
  for (const decision of decisions) {
    const answered =
      verdict === 'ALLOW'
        ? doubtsOf(decision)
        : answeredBy(doubtsOf(decision), 'NO', named ?? deniedByDefault(decision));
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

/** The effect of a YES to one question or several. Each covers the amounts of the spends that asked it. */
export const yesInWords = (amounts: readonly Amount[], count = 1): string =>
  count === 1
    ? `From the next request on, reviewers are not asked this again for amounts up to ${coveredBy(amounts)}.`
    : 'From the next request on, reviewers are not asked these again for up to three times the amounts allowed, or the review threshold if it is higher.';

/** The reach of a YES that was given for these amounts. */
export const coverInWords = (allowed: readonly Amount[]): string =>
  `Covers amounts up to ${coveredBy(allowed)}.`;

/** The effect of a NO. */
export const NO_IN_WORDS = 'From the next request on, the same counts as against the purpose.';

/** The most questions that are proposed at once, and the share of everything asked that they aim at. */
const MAX_PROPOSED = 12;
const AIMED_SHARE = 0.9;

/** The open questions that were asked most, and the share of all that was asked that their answers would end. */
export function mostAsked<Q extends { asked: number }>(
  open: readonly Q[],
): { questions: Q[]; share: number } {
  const total = open.reduce((sum, { asked }) => sum + asked, 0);
  const questions: Q[] = [];
  let sum = 0;
  for (const question of [...open].sort((a, b) => b.asked - a.asked)) {
    if (questions.length === MAX_PROPOSED || sum >= total * AIMED_SHARE) break;
    questions.push(question);
    sum += question.asked;
  }
  return { questions, share: total === 0 ? 0 : sum / total };
}

/** "1 question", "2 questions". */
export const questionCount = (count: number): string => `${count} ${count === 1 ? 'question' : 'questions'}`;
