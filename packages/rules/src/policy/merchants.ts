import { blockedBy } from '../merchants/blocklist.ts';
import { blockingEntry, listerAndDay } from '../merchants/directory.ts';
import { POLICY } from '../sentences/policy.ts';
import { type Found, type Judge, skipped } from './stage.ts';

/** `merchant`: neither the authority nor the merchant directory may block it. */
export const judgeMerchant: Judge = ({ blocked_merchants = [] }, { request, directory }) => {
  const { merchant: observed } = request.action;
  if (blocked_merchants.length === 0 && directory.blocked.length === 0)
    return skipped(POLICY.nothing_blocked());
  const blocked = (limit: string, detail: string): Found => ({
    outcome: 'DENY',
    reason_code: 'MERCHANT_BLOCKED',
    observed,
    limit,
    detail,
  });
  const of_authority = blockedBy(observed, blocked_merchants);
  if (of_authority !== null) {
    const by =
      of_authority === observed ? POLICY.blocked(observed) : POLICY.blocked_by_entry(observed, of_authority);
    return blocked(of_authority, by);
  }
  const entry = blockingEntry(directory, observed);
  if (entry === null) return { outcome: 'PASS', observed, detail: POLICY.not_blocked() };
  const by = listerAndDay(entry);
  return blocked(
    entry.merchant,
    entry.merchant === observed
      ? POLICY.blocked_in_directory(observed, ...by)
      : POLICY.blocked_by_directory_entry(observed, entry.merchant, ...by),
  );
};
