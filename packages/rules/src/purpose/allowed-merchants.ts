import type { Authority } from '@purser/contract/authority';
import type { SpendRequest } from '@purser/contract/decisions';
import type { PurposeEvidence } from '../domain/assessment.ts';
import { allowedBy } from '../merchants/allowlist.ts';
import { makeIsNot } from './reading/corrections.ts';

const NONE: readonly string[] = [];
const as_read = new WeakMap<Authority, readonly string[]>();

/** The allowed merchants that vouch: all but those that a correction takes away. The same array for the same authority. */
export function allowedAsRead(authority: Authority): readonly string[] {
  const { allowed_merchants = NONE, purpose } = authority;
  if (purpose.reading?.not === undefined) return allowed_merchants;
  const isNot = makeIsNot(purpose.reading);
  const known = as_read.get(authority) ?? allowed_merchants.filter((name) => !isNot(['merchant'], name));
  as_read.set(authority, known);
  return known;
}

/** Evidence that the operator allowed this merchant; null if it is not on the list. */
export function allowedMerchant(authority: Authority, request: SpendRequest): PurposeEvidence[] | null {
  const allowed = allowedAsRead(authority);
  const { merchant } = request.action;
  const entry = allowed.length === 0 ? null : allowedBy(merchant, allowed);
  if (entry === null) return null;
  return [
    { field: 'action.merchant', text: merchant, effect: 'supports' },
    {
      field: `allowed_merchants[${authority.allowed_merchants?.indexOf(entry)}]`,
      text: entry,
      effect: 'supports',
    },
  ];
}
