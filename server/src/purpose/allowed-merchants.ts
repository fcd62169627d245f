import type { PurposeEvidence } from '../domain/assessment.ts';
import type { Authority } from '../domain/authorities.ts';
import type { SpendRequest } from '../domain/spends.ts';
import { allowedBy } from '../merchants/blocklist.ts';
import type { Fit } from './fit.ts';

/** The evidence that the merchant is one the operator allowed; null when it is not. */
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

/** An allowed merchant is no stranger by its trade. What is bought there is judged as anywhere else. */
export function noStranger(fit: Fit, allowed: PurposeEvidence[] | null): Fit {
  return allowed === null ? fit : { ...fit, foreignMerchant: undefined };
}

/**
 * An allowed merchant supports a spend as one that the purpose names does. For spends that neither a conflict nor a
 * suspicion speaks against: it outweighs none.
 */
export function withAllowedMerchant(fit: Fit, allowed: PurposeEvidence[] | null): Fit {
  if (allowed === null) return fit;
  const support = fit.support - fit.merchant_support + 1;
  return { ...fit, support, merchant_support: 1, supports: [...allowed, ...fit.supports] };
}
