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

/** What happened before between an agent and one merchant or one payee, under the purpose that holds now. */
export interface TrackRecord {
  /** Reviews of earlier spends there. */
  reviews: { allowed: number; denied: number };
  /** People's labels of earlier spends there. Only the labels that stand count, not those that were replaced. */
  labels: { aligned: number; misaligned: number };
  /** Spends that were in force and that the payment rail executed; an agent's own word for it does not count. */
  paid_count: number;
  /** Lowest and highest amount that the rail executed or a person found to fit, by currency, in minor units. */
  usual_minor: ReadonlyMap<string, { low: number; high: number }>;
  /** `payee_id`s of the spends behind these amounts. Empty for a payee. */
  payee_ids: ReadonlySet<string>;
}

/**
 * Facts about an agent's past, read by the caller, so that judging stays pure. They must be facts of this agent under
 * this purpose: what another purpose allowed says nothing here.
 */
export interface PurposeHistory {
  /** By `historyKey` of the merchant's name. */
  merchants: ReadonlyMap<string, TrackRecord>;
  /** By `payee_id` as it was sent. */
  payees: ReadonlyMap<string, TrackRecord>;
  /** How often each of the `historyWords` of a description stood in spends that people labelled. */
  words: ReadonlyMap<string, { aligned: number; misaligned: number }>;
}

/**
 * Judges whether a spend serves the purpose of an authority. Pure and deterministic: no clock, no I/O.
 * Everything in `request` is untrusted: it may lower the assessment, never vouch for itself. `context` is not judged.
 * `history`: what people said of earlier spends, as facts; without it a spend is judged as the first one.
 */
export type Assess = (authority: Authority, request: SpendRequest, history?: PurposeHistory) => Assessment;
