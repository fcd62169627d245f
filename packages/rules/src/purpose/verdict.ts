import type { Judgement, PurposeAssessment, PurposeEvidence } from '../domain/assessment.ts';
import type { RaisedQuestion } from '../domain/questions.ts';
import type { Voucher } from '../domain/spend-facts.ts';

/** Name and version of this assessor. A change that can turn an assessment raises the version. */
export const METHOD = 'built-in/11';

const MAX_EVIDENCE = 12;

/** Makes a judgement by this assessor, with each piece of evidence once and at most `MAX_EVIDENCE` of them. */
export function judgementOf(
  assessment: PurposeAssessment,
  confidence: number,
  rationale: string,
  evidence: readonly PurposeEvidence[],
  {
    vouched_by = null,
    is_final = false,
    questions = [],
  }: { vouched_by?: Voucher | null; is_final?: boolean; questions?: readonly RaisedQuestion[] } = {},
): Judgement {
  const distinct: PurposeEvidence[] = [];
  for (const one of evidence) {
    if (distinct.length === MAX_EVIDENCE) break;
    const isRepeated = distinct.some(
      ({ field, text, effect }) => text === one.text && field === one.field && effect === one.effect,
    );
    if (!isRepeated) distinct.push(one);
  }
  return {
    assessment,
    confidence,
    method: METHOD,
    rationale,
    evidence: distinct,
    questions,
    vouched_by,
    is_final,
  };
}
