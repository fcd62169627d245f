import type { Authority } from '@purser/contract/authority';
import type { PurposeEvidence } from '../../domain/assessment.ts';
import type { SpendFacts } from '../../domain/spend-facts.ts';
import type { AuthorityReading } from '../reading/authority-terms.ts';
import type { SpendReading } from '../reading/spend-reading.ts';

/** All that a spend is judged by. */
export interface Inquiry {
  authority: Authority;
  purpose: AuthorityReading;
  spend: SpendReading;
  facts: SpendFacts;
}

/**
 * The effect of a conflict on a spend. `final`: misaligned, whatever else speaks for it, and no model is asked.
 * `weak`: misaligned for a reason that a person would accept; a model may be asked. `unclear`: a person
 * should look.
 */
export type Severity = 'final' | 'weak' | 'unclear';

/** A contradiction that was found. */
export interface Contradiction {
  /** One sentence that a person reads. */
  sentence: string;
  evidence: PurposeEvidence[];
  /** Milder than the conflict's own severity, where what was found is less certain. */
  severity?: Severity;
}

/** One way in which a spend may contradict its purpose. More text in the request never makes it find less. */
export interface Conflict {
  id: string;
  severity: Severity;
  /** True if there is anything to look for; cheap, so that most spends pay for few conflicts. */
  applies(inquiry: Inquiry): boolean;
  find(inquiry: Inquiry): Contradiction | undefined;
}

/** In UTF-16 code units. */
export const MAX_QUOTE_LENGTH = 160;

/** Evidence of a conflict, with its text cut to `MAX_QUOTE_LENGTH`. */
export const conflictsWith = (field: string, text: string): PurposeEvidence => ({
  field,
  text: text.slice(0, MAX_QUOTE_LENGTH),
  effect: 'conflicts',
});

/** Evidence that something in the request looks like deception, with its text cut to `MAX_QUOTE_LENGTH`. */
export const suspicious = (field: string, text: string): PurposeEvidence => ({
  field,
  text: text.slice(0, MAX_QUOTE_LENGTH),
  effect: 'suspicious',
});

/** A quotation of the words around a place of a text, at most `MAX_QUOTE_LENGTH` long. */
export function quoteAround(text: string, at: number, length: number): string {
  const from = Math.max(0, at - 20);
  const quote = text.slice(from, Math.min(text.length, at + length + 20, from + MAX_QUOTE_LENGTH));
  return quote.replace(/\s+/g, ' ').trim();
}

const RANK: Record<Severity, number> = { unclear: 0, weak: 1, final: 2 };

/** How severe a finding is: never more than its conflict, and what only a step of the trace shows is unclear. */
export function severityOf(conflict: Conflict, finding: Contradiction): Severity {
  const own = finding.severity ?? conflict.severity;
  const milder = RANK[own] < RANK[conflict.severity] ? own : conflict.severity;
  return finding.evidence.some(({ field }) => field.startsWith('trace[')) ? 'unclear' : milder;
}

/** The most severe of some severities; undefined for none. */
export function mostSevere(severities: readonly Severity[]): Severity | undefined {
  return severities.reduce<Severity | undefined>(
    (worst, one) => (worst === undefined || RANK[one] > RANK[worst] ? one : worst),
    undefined,
  );
}
