import type { OutcomeSource } from './outcomes.ts';

/**
 * Whose word a record is, the least trusted first. AGENT: the request for the spend, and whatever a client reports of it.
 * PERSON: reviews and labels. RAIL: the payment system, which consumes capabilities and reports as `PAYMENT_RAIL`.
 */
const TRUST_LEVELS = ['AGENT', 'PERSON', 'RAIL'] as const;
export type TrustLevel = (typeof TRUST_LEVELS)[number];

/**
 * Returns true if `word` is trusted at least as much as `other`. Only then may it lower what the other one made
 * count.
 */
export function isAtLeast(word: TrustLevel, other: TrustLevel): boolean {
  return TRUST_LEVELS.indexOf(word) >= TRUST_LEVELS.indexOf(other);
}

/** The trust level of a report. A client's is the agent's word, whichever key sent it. */
export function trustOfReport(report: { source: OutcomeSource }): TrustLevel {
  return report.source === 'PAYMENT_RAIL' ? 'RAIL' : 'AGENT';
}

/** The reports of at least this level, in their order. */
export function reportsOfAtLeast<R extends { source: OutcomeSource }>(
  level: TrustLevel,
  reports: readonly R[],
): R[] {
  return reports.filter((report) => isAtLeast(trustOfReport(report), level));
}
