import { LABELS } from '@purser/contract/values/decisions';
import { recordHash } from './ledger.ts';

export { LABELS };

/** A person's judgement of whether a spend served the purpose. Never changed or removed. */
export interface Label {
  label_id: string;
  decision_id: string;
  label: (typeof LABELS)[number];
  comment: string | null;
  /** The label that this one replaces. */
  supersedes: string | null;
  principal_id: string | null;
  /** Null: a person gave it. */
  key_id: string | null;
  created_at: string;
}

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
