import type { Label } from '@purser/contract/records';
import { recordHash } from './ledger.ts';

/** The `data_hash` of a label: SHA-256 of the RFC 8785 form of all columns. */
export function labelDataHash(label: Label): Buffer {
  return recordHash(label);
}

/** The labels that no other one supersedes. */
export function currentLabels<L extends Pick<Label, 'label_id' | 'supersedes'>>(labels: readonly L[]): L[] {
  const corrected = new Set(labels.map((label) => label.supersedes));
  return labels.filter((label) => !corrected.has(label.label_id));
}

/** The fields that `currentLabels` needs. */
export type LabelLink = Pick<Label, 'decision_id' | 'label_id' | 'supersedes'>;
