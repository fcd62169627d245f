import type { Decision } from '@purser/contract/decisions';
import type { ChannelFilter, QuietHours } from '@purser/contract/routes/notices/channels';
import type { Channel } from './channels.ts';

/** A channel, or a person who is notified. */
export interface NoticeRecipient {
  /** The id of the channel or user. */
  recipient_id: string;
  /** The channel's name or the person's principal. */
  name: string;
  filter: ChannelFilter | null;
  quiet_hours: QuietHours | null;
}

/** A channel as a recipient. */
export function recipientOf({ channel_id, name, filter, quiet_hours }: Channel): NoticeRecipient {
  return { recipient_id: channel_id, name, filter, quiet_hours };
}

/** The part of a decision that filters read. */
export type FilteredDecision = Pick<
  Decision,
  'agent' | 'currency' | 'requested_amount_minor' | 'reason_codes'
>;

/** Returns whether a recipient is notified of a request: each field of its filter must match. */
export function matchesFilter(filter: ChannelFilter | null, decision: FilteredDecision): boolean {
  const { agents, currency, from_minor, reasons } = filter ?? {};
  return (
    (agents === undefined || agents.includes(decision.agent.slug) || agents.includes(decision.agent.id)) &&
    (currency === undefined || currency === decision.currency) &&
    (from_minor === undefined || decision.requested_amount_minor >= from_minor) &&
    (reasons === undefined || decision.reason_codes.some((code) => reasons.includes(code)))
  );
}
