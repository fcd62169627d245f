import { blockedBy } from '../merchants/blocklist.ts';
import { blockingEntry, listedBy } from '../merchants/directory.ts';
import { type Found, type Judge, skipped } from './stage.ts';

/** `merchant`: neither the authority nor the merchant directory may block it. */
export const judgeMerchant: Judge = ({ blocked_merchants = [] }, { request, directory }) => {
  const { merchant: observed } = request.action;
  if (blocked_merchants.length === 0 && directory.blocked.length === 0)
    return skipped('No merchants are blocked.');
  const blocked = (limit: string, by: string): Found => ({
    outcome: 'DENY',
    reason_code: 'MERCHANT_BLOCKED',
    observed,
    limit,
    detail: `The merchant "${observed}" is blocked by the entry "${limit}"${by}.`,
  });
  const of_authority = blockedBy(observed, blocked_merchants);
  if (of_authority !== null) return blocked(of_authority, '');
  const entry = blockingEntry(directory, observed);
  return entry === null
    ? { outcome: 'PASS', observed, detail: 'The merchant is not on the blocklist.' }
    : blocked(entry.merchant, `, ${listedBy(entry)}`);
};
