import { formatMoney } from '@purser/mcp/money';

/** One difference between two authorities. */
export interface Change {
  field: string;
  /** In words, with both values. */
  sentence: string;
  /** Whether more may be spent with it, or on more; `maybe` where words decide that. */
  widens: 'yes' | 'no' | 'maybe';
}

/** The fields of an authority, those of its purpose beside the others. */
export type AuthorityFields = Readonly<Record<string, unknown>>;

/** A value in words. */
export const shown = (value: unknown): string =>
  value === undefined ? 'nothing' : typeof value === 'string' ? `“${value}”` : JSON.stringify(value);

/** An amount in the currency of its authority. */
export const moneyIn = ({ currency }: AuthorityFields, value: unknown): string =>
  typeof value === 'number' && typeof currency === 'string' ? formatMoney(value, currency) : shown(value);
