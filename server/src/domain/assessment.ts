import type { PurposeHistory } from '../purpose/history.ts';
import type { Authority } from './authorities.ts';
import type { SpendRequest } from './spends.ts';

export const PURPOSE_ASSESSMENTS = ['PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED', 'PURPOSE_UNCLEAR'] as const;
export type PurposeAssessment = (typeof PURPOSE_ASSESSMENTS)[number];

export const EVIDENCE_EFFECTS = ['supports', 'conflicts', 'suspicious'] as const;

/** The words an assessment stands on, and the field they were read in (`action.merchant`, `trace[2].step`, …). */
export interface PurposeEvidence {
  field: string;
  text: string;
  effect: (typeof EVIDENCE_EFFECTS)[number];
}

/** Whether a spend fits the purpose, with what it stands on. */
export interface Assessment {
  assessment: PurposeAssessment;
  /** 0..1: how sure the assessor is of `assessment`. */
  confidence: number;
  /** Which assessor spoke, with its version. */
  method: string;
  /** One or two sentences a person understands. */
  rationale: string;
  evidence: PurposeEvidence[];
}

/**
 * Judges whether a spend serves the purpose of an authority. Pure and deterministic: no clock, no I/O.
 * Everything in `request` is untrusted: it may lower the assessment, never vouch for itself. `context` is not judged.
 * `history`: what people said of earlier spends, as facts; without it a spend is judged as the first one.
 */
export type Assess = (authority: Authority, request: SpendRequest, history?: PurposeHistory) => Assessment;
