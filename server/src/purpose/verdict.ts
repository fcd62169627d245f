import type { Assessment, PurposeAssessment, PurposeEvidence } from '../domain/assessment.ts';

/** Name and version of this assessor. A change that can turn an assessment raises the version. */
export const METHOD = 'built-in/3.1';

/** At most this many pieces of evidence are told. */
const MAX_EVIDENCE = 12;

/** An assessment by this assessor; evidence that is the same twice is told once. */
export function assessmentOf(
  assessment: PurposeAssessment,
  confidence: number,
  rationale: string,
  evidence: readonly PurposeEvidence[],
): Assessment {
  const once: PurposeEvidence[] = [];
  for (const one of evidence) {
    if (once.length === MAX_EVIDENCE) break;
    const isSaid = once.some(
      ({ field, text, effect }) => text === one.text && field === one.field && effect === one.effect,
    );
    if (!isSaid) once.push(one);
  }
  return { assessment, confidence, method: METHOD, rationale, evidence: once };
}

/** Neither aligned nor misaligned. */
export const unclear = (confidence: number, rationale: string, evidence: readonly PurposeEvidence[] = []) =>
  assessmentOf('PURPOSE_UNCLEAR', confidence, rationale, evidence);
