import type { Authority } from '@purser/contract/authority';
import type { SpendRequest } from '@purser/contract/decisions';
import type { PurposeEvidence } from '../domain/assessment.ts';
import { allowedBy } from '../merchants/allowlist.ts';

/** Evidence that the operator allowed this merchant; null if it is not on the list. */
export function allowedMerchant(authority: Authority, request: SpendRequest): PurposeEvidence[] | null {
  const allowed = authority.allowed_merchants ?? [];
  const { merchant } = request.action;
  const entry = allowed.length === 0 ? null : allowedBy(merchant, allowed);
  if (entry === null) return null;
  return [
    { field: 'action.merchant', text: merchant, effect: 'supports' },
    { field: `allowed_merchants[${allowed.indexOf(entry)}]`, text: entry, effect: 'supports' },
  ];
}
