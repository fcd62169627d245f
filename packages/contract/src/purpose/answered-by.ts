/** A YES covers amounts up to this multiple of the largest one that people allowed. */
export const COVERED_FACTOR = 3;

/**
 * The questions of a decision that a review or label answers. YES answers all of them. NO answers those that are named;
 * without names, all that are not about the merchant itself, or that one where it is the only one.
 */
export function answeredBy<Q extends { question_id: string; about: unknown }>(
  questions: readonly Q[],
  answer: 'YES' | 'NO',
  named?: readonly string[],
): readonly Q[] {
  if (answer === 'YES') return questions;
  if (named !== undefined) return questions.filter(({ question_id }) => named.includes(question_id));
  const about_goods = questions.filter(({ about }) => about !== null);
  return about_goods.length === 0 ? questions : about_goods;
}

/** The questions of a decision that were open or rejected: those that nobody has answered with YES. */
export const doubted = <Q extends { answered: { answer: string } | null }>(
  questions: readonly Q[],
): readonly Q[] => questions.filter(({ answered }) => answered?.answer !== 'YES');

/** Reasons for a review that are about the purpose. */
const OF_PURPOSE: ReadonlySet<string> = new Set(['PURPOSE_UNCLEAR', 'PURPOSE_MISALIGNED']);

/**
 * The questions that a denial of a decision is about unless the reviewer names others: those of `answeredBy` that nobody has
 * answered with YES. None where the purpose was no reason for the review: a duplicate that is denied says nothing about
 * its merchant.
 */
export function deniedByDefault<
  Q extends { question_id: string; about: unknown; answered: { answer: string } | null },
>({
  reason_codes,
  purpose: { questions = [] },
}: {
  reason_codes: readonly string[];
  purpose: { questions?: readonly Q[] | undefined };
}): readonly Q[] {
  if (!reason_codes.some((code) => OF_PURPOSE.has(code))) return [];
  return answeredBy(doubted(questions), 'NO');
}
