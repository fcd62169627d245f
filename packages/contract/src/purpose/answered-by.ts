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
