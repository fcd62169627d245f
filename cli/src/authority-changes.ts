import { type AuthorityChange, changesOf as fieldChangesOf } from '@purser/contract/authority-changes';
import { formatMoney } from '@purser/contract/money';
import type { Authority } from '@purser/sdk';

/** One difference between two authorities, as it is printed. */
export interface Change {
  field: string;
  /** In words, with both values. */
  sentence: string;
  /** `yes`: the agent may spend more, or on more things. `maybe`: it depends on the meaning of a text. */
  widens: AuthorityChange['widens'];
}

/** Lists the changes that another authority makes, one line each. `before` is null if no authority is set. */
export function changesOf(before: Authority | null, after: Authority): Change[] {
  return fieldChangesOf(before, after, formatMoney).map((change) => ({
    field: change.field,
    sentence: lineOf(change),
    widens: change.widens,
  }));
}

function lineOf({ label, is_entry, before, after }: AuthorityChange): string {
  if (before !== null && after !== null) return `${label}: ${before} → ${after}`;
  if (is_entry) return `${label}: ${before === null ? `added ${after}` : `removed ${before}`}`;
  return `${label}: ${before === null ? `set to ${after}` : `removed (was ${before})`}`;
}

const MARKS = { yes: ' (widens)', maybe: ' (may widen)', no: '' };

/** The lines, with what widens marked. */
export function changeLines(changes: readonly Change[]): string[] {
  return changes.map(({ sentence, widens }) => `  ${sentence}${MARKS[widens]}`);
}
