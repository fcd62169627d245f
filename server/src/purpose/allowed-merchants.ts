import type { PurposeEvidence } from '../domain/assessment.ts';
import type { Authority } from '../domain/authorities.ts';
import type { SpendRequest } from '../domain/spends.ts';
import { allowedBy } from '../merchants/blocklist.ts';
import type { Fit } from './fit.ts';

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

/** An allowed merchant's trade is never out of scope. The goods are judged as at any other merchant. */
export function inScopeIfAllowed(fit: Fit, allowed: PurposeEvidence[] | null): Fit {
  return allowed === null ? fit : { ...fit, merchant_out_of_scope: undefined };
}

/**
 * Counts an allowed merchant like one that the purpose names. Call it only for spends without conflict or suspicion,
 * because the support must not outweigh either.
 */
export function withAllowedMerchant(fit: Fit, allowed: PurposeEvidence[] | null): Fit {
  if (allowed === null) return fit;
  const support = fit.support - fit.merchant_support + 1;
  return { ...fit, support, merchant_support: 1, supports: [...allowed, ...fit.supports] };
}
