import type { InboxRow } from '@purser/sdk';
import { formatMoney } from '../money.ts';
import { visible } from '../visible.ts';
import { reasonWords } from '../words.ts';

/** More new requests than this are one notification. */
export const MAX_SINGLE = 3;
const MAX_MERCHANT = 80;

/** A notification of the browser. `tag`: another of the same tag, also of another tab, replaces it silently. */
export interface BrowserNotification {
  tag: string;
  title: string;
  body: string;
  /** The request that it opens; null: the inbox. */
  decision_id: string | null;
}

type Row = Pick<
  InboxRow,
  | 'decision_id'
  | 'agent'
  | 'merchant'
  | 'amount_minor'
  | 'currency'
  | 'reason_code'
  | 'created_at'
  | 'may_allow'
>;

/** Requests that were there before; `since`: the newest of those that were pending at first. */
export interface Seen {
  since: string;
  ids: ReadonlySet<string>;
}

/** Adds rows, newest first, to the requests that were seen before. */
export const withSeen = (rows: readonly Row[], before: Seen | null): Seen => ({
  since: before?.since ?? rows[0]?.created_at ?? '',
  ids: new Set([...(before?.ids ?? []), ...rows.map(({ decision_id }) => decision_id)]),
});

/**
 * Returns the notifications about new requests that the person may allow, oldest first, or one for many. The merchant is the
 * agent's word: it comes last, cut, with its hidden characters shown.
 */
export function notificationsOf(rows: readonly Row[], seen: Seen): BrowserNotification[] {
  // An older request is in the list again once newer ones have left it.
  const fresh = rows.filter(
    ({ decision_id, created_at, may_allow }) =>
      may_allow && created_at >= seen.since && !seen.ids.has(decision_id),
  );
  if (fresh.length > MAX_SINGLE) {
    const tag = `purser-summary-${fresh[0]?.decision_id}`;
    return [{ tag, title: `${fresh.length} requests need review`, body: 'Purser', decision_id: null }];
  }
  return [...fresh].reverse().map(({ decision_id, agent, merchant, amount_minor, currency, reason_code }) => {
    const shown = visible(
      merchant.length > MAX_MERCHANT ? `${merchant.slice(0, MAX_MERCHANT - 1)}…` : merchant,
    );
    return {
      tag: decision_id,
      title: `${formatMoney(amount_minor, currency)} needs review · ${agent.slug}`,
      body: `${reasonWords(reason_code)}. ${shown}`,
      decision_id,
    };
  });
}
