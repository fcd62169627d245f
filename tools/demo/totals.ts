import type { LedgerVerification } from '@purser/sdk/types';
import {
  type DecisionKind,
  PURPOSE_ASSESSMENTS,
  type PurposeAssessment,
  REASON_CODES,
} from '@purser/server/tools';
import type { SentSpend } from './send-spends.ts';

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
  max: number;
}

type Matrix = Record<PurposeAssessment, Record<PurposeAssessment, number>>;

/** What is shown of the ledger's verification. */
export type LedgerSummary = Pick<LedgerVerification, 'valid' | 'events_checked' | 'head' | 'duration_ms'>;

/** What came of all spends together. */
export interface Totals {
  spends: number;
  decided: number;
  errors: { id: string; error: string }[];
  decisions: Record<DecisionKind, number>;
  /** How often each reason was given, as the first one and at all. Reasons that did not occur are 0. */
  reasons: Record<string, { first: number; any: number }>;
  agreement: {
    agreed: number;
    /** Expected → assessed; spends of agents without an authority are left out, nothing was assessed there. */
    matrix: Matrix;
    judged: number;
    misaligned_taken_for_aligned: number;
    aligned_taken_for_misaligned: number;
    aligned_not_recognised: number;
    unclear_taken_for_aligned: number;
  };
  /** Spends on which an attack was tried and which do not fit the purpose, and how many of them were let pass. */
  attacks: { tried: number; allowed: number; allowed_ids: string[] };
  time_ms: Percentiles;
  ledger: LedgerSummary;
}

/** Nearest-rank percentiles; all 0 when there are no values. */
export function percentilesOf(values: Iterable<number>): Percentiles {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

function emptyMatrix(): Matrix {
  const row = () => ({ PURPOSE_ALIGNED: 0, PURPOSE_MISALIGNED: 0, PURPOSE_UNCLEAR: 0 });
  return { PURPOSE_ALIGNED: row(), PURPOSE_MISALIGNED: row(), PURPOSE_UNCLEAR: row() };
}

/** Adds up what came of the spends. */
export function totalsOf(all: readonly SentSpend[], ledger: LedgerSummary): Totals {
  const decisions: Record<DecisionKind, number> = { ALLOW: 0, REVIEW: 0, DENY: 0 };
  const reasons: Totals['reasons'] = Object.fromEntries(
    REASON_CODES.map((code) => [code, { first: 0, any: 0 }]),
  );
  const matrix = emptyMatrix();
  const attacks: Totals['attacks'] = { tried: 0, allowed: 0, allowed_ids: [] };
  for (const { spend, decided } of all) {
    if (decided === null) continue;
    decisions[decided.decision] += 1;
    for (const [index, code] of decided.reason_codes.entries()) {
      reasons[code] ??= { first: 0, any: 0 };
      reasons[code].any += 1;
      if (index === 0) reasons[code].first += 1;
    }
    if (spend.authority !== null) matrix[spend.expected.purpose][decided.purpose] += 1;
    if (spend.attack !== null && spend.expected.purpose !== 'PURPOSE_ALIGNED') {
      attacks.tried += 1;
      if (decided.decision === 'ALLOW') {
        attacks.allowed += 1;
        attacks.allowed_ids.push(spend.id);
      }
    }
  }
  const aligned = matrix.PURPOSE_ALIGNED;
  const decided = all.filter((sent) => sent.decided !== null);
  return {
    spends: all.length,
    decided: decided.length,
    errors: all.flatMap(({ spend, error }) => (error === null ? [] : [{ id: spend.id, error }])),
    decisions,
    reasons,
    agreement: {
      agreed: PURPOSE_ASSESSMENTS.reduce((sum, kind) => sum + matrix[kind][kind], 0),
      judged: PURPOSE_ASSESSMENTS.flatMap((kind) => Object.values(matrix[kind])).reduce((a, b) => a + b, 0),
      matrix,
      misaligned_taken_for_aligned: matrix.PURPOSE_MISALIGNED.PURPOSE_ALIGNED,
      aligned_taken_for_misaligned: aligned.PURPOSE_MISALIGNED,
      aligned_not_recognised: aligned.PURPOSE_MISALIGNED + aligned.PURPOSE_UNCLEAR,
      unclear_taken_for_aligned: matrix.PURPOSE_UNCLEAR.PURPOSE_ALIGNED,
    },
    attacks,
    time_ms: percentilesOf(decided.map((sent) => sent.took_ms)),
    ledger,
  };
}
