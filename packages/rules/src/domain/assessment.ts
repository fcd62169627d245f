import type { Authority } from '@purser/contract/authority';
import type { Assessment, SpendRequest } from '@purser/contract/decisions';
import type { PURPOSE_ASSESSMENTS } from '@purser/contract/values/decisions';
import type { RaisedQuestion } from './questions.ts';
import type { SpendFacts, Voucher } from './spend-facts.ts';

export type PurposeAssessment = (typeof PURPOSE_ASSESSMENTS)[number];

/** The method of an assessment by the authority's `model_usage` alone: see `leases/`. */
export const BY_AUTHORITY = 'authority';

/** Words that an assessment is based on, and the field they come from (`action.merchant`, `trace[2].step`, …). */
export type PurposeEvidence = Assessment['evidence'][number];

/** An assessment with what whoever goes on from it must know. Only the `Assessment` of it is stored. */
export interface Judgement extends Assessment {
  /** Everything but final reasons that speaks against the spend, settled questions included. */
  questions: readonly RaisedQuestion[];
  /** The fact that vouches for the merchant: every aligned spend has one, and none with a final reason against it. */
  vouched_by: Voucher | null;
  /**
   * True for a misaligned spend whose reason nothing outweighs: an explicit prohibition, another payee than the operator's,
   * goods as good as cash, text planted for a judge, paid already. No model is asked about it. A misaligned spend for any
   * other reason, and an unclear one, may be shown to a model.
   */
  is_final: boolean;
}

/**
 * Judges whether a spend serves the purpose of an authority. Pure and deterministic: no clock, no I/O.
 * Everything in `request` is untrusted: it may lower the assessment, never vouch for itself. `context` is not read.
 * Without `facts` a spend is judged as if it were the agent's first and nothing were listed.
 */
export type Assess = (authority: Authority, request: SpendRequest, facts?: SpendFacts) => Judgement;

/** The part of a judgement that is stored with the decision. */
export function storedAssessment({
  assessment,
  confidence,
  method,
  rationale,
  evidence,
}: Assessment): Assessment {
  return { assessment, confidence, method, rationale, evidence };
}
