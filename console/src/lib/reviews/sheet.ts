import type { MerchantPast, SheetLimit, SheetPurpose } from '@purser/sdk';
import { formatMoney } from '../money.ts';

/** The constraints that the request conflicts with, and the others. */
export function firesIn({ constraints, fires }: Pick<SheetPurpose, 'constraints' | 'fires'>): {
  fired: string[];
  others: string[];
} {
  const at = new Set(fires.flatMap(({ field, index }) => (field === 'constraints' ? [index] : [])));
  const elsewhere = fires.filter(({ field }) => field !== 'constraints').map(({ text }) => text);
  const unique = (texts: readonly string[]) => [...new Set(texts)];
  return {
    fired: unique([...constraints.filter((_, i) => at.has(i)), ...elsewhere]),
    others: unique(constraints.filter((_, i) => !at.has(i))),
  };
}

const NAMES: Partial<Record<SheetLimit['kind'], string>> = {
  review_threshold: 'Review threshold',
  per_transaction_limit: 'Per transaction',
  monthly_budget: 'Monthly budget',
};

/** The name of a limit for people: its own, or that of its kind. */
export const limitName = ({ kind, name }: Pick<SheetLimit, 'kind' | 'name'>): string =>
  NAMES[kind] ?? (kind === 'shared_budget' ? `Shared budget ${name}` : `Velocity limit ${name}`);

/** A limit with its usage now, this request included where it is held; `share` is null for limits of one spend. */
export function limitInWords(
  { limit_minor, used_now_minor, limit_count, used_now_count }: Omit<SheetLimit, 'name' | 'kind'>,
  currency: string,
): { text: string; share: number | null } {
  const parts: string[] = [];
  const shares: number[] = [];
  if (limit_minor !== null) {
    const limit = formatMoney(limit_minor, currency);
    parts.push(used_now_minor === null ? limit : `${formatMoney(used_now_minor, currency)} of ${limit}`);
    if (used_now_minor !== null && limit_minor > 0) shares.push(used_now_minor / limit_minor);
  }
  if (limit_count !== null) {
    parts.push(`${used_now_count ?? 0} of ${limit_count} requests`);
    if (limit_count > 0) shares.push((used_now_count ?? 0) / limit_count);
  }
  return { text: parts.join(' · '), share: shares.length === 0 ? null : Math.max(...shares) };
}

/** "12 requests, 10 allowed, 1 denied, 9 executed." */
export function pastInWords({ decisions, allowed, denied, executed }: MerchantPast): string {
  const counts = [
    [allowed, 'allowed'],
    [denied, 'denied'],
    [executed, 'executed'],
  ] as const;
  const said = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return `${[`${decisions} ${decisions === 1 ? 'request' : 'requests'}`, ...said].join(', ')}.`;
}
