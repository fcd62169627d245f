import type { Assessment, PurposeAssessment, PurposeEvidence } from '../domain/assessment.ts';

/** Name and version of this assessor. A change that can turn an assessment raises the version. */
export const METHOD = 'built-in/3.1';

const MAX_EVIDENCE = 12;

/** Makes an assessment by this assessor, with each piece of evidence once and at most `MAX_EVIDENCE` of them. */
export function assessmentOf(
  assessment: PurposeAssessment,
  confidence: number,
  rationale: string,
  evidence: readonly PurposeEvidence[],
): Assessment {
  const distinct: PurposeEvidence[] = [];
  for (const one of evidence) {
    if (distinct.length === MAX_EVIDENCE) break;
    const isRepeated = distinct.some(
      ({ field, text, effect }) => text === one.text && field === one.field && effect === one.effect,
    );
    if (!isRepeated) distinct.push(one);
  }
  return { assessment, confidence, method: METHOD, rationale, evidence: distinct };
}

/** Makes the assessment `PURPOSE_UNCLEAR`. */
export const unclear = (confidence: number, rationale: string, evidence: readonly PurposeEvidence[] = []) =>
  assessmentOf('PURPOSE_UNCLEAR', confidence, rationale, evidence);
