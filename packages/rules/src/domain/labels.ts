import type { Label } from '@purser/contract/records';
import { recordHash } from './ledger.ts';

/** The form of a label that the ledger seals. No `questions` are left out, as before there were any. */
export function sealedLabel({ questions, ...label }: Label): Record<string, unknown> {
  return questions.length > 0 ? { ...label, questions } : label;
}

/** The `data_hash` of a label: SHA-256 of the RFC 8785 form of what is sealed of it. */
export function labelDataHash(label: Label): Buffer {
  return recordHash(sealedLabel(label));
}

/** The labels that no other one supersedes. */
export function currentLabels<L extends Pick<Label, 'label_id' | 'supersedes'>>(labels: readonly L[]): L[] {
  const corrected = new Set(labels.map((label) => label.supersedes));
  return labels.filter((label) => !corrected.has(label.label_id));
}

/** The fields that `currentLabels` needs. */
export type LabelLink = Pick<Label, 'decision_id' | 'label_id' | 'supersedes'>;
