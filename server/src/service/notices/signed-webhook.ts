import type { NoticeKind } from '@purser/contract/values/channels';
import { standardSignature } from '@purser/rules/domain/webhooks';
import type { OutgoingNotice } from '../webhook-delivery/sender.ts';
import type { EncodedNotice } from './post-sender.ts';

/** The `type` of each kind of notice. */
const TYPES: Record<NoticeKind, string> = {
  REQUESTED: 'review.requested',
  REMINDER: 'review.reminder',
  ESCALATED: 'review.escalated',
  ASSIGNED: 'review.assigned',
  SUMMARY: 'review.summary',
  DIGEST: 'review.digest',
  LIMIT: 'limit.reached',
  FAILING: 'channel.failing',
  TEST: 'channel.test',
};

/** A notice as JSON with the headers of Standard Webhooks, signed with the channel's secret at `now_ms`. */
export function signedNotice(
  { notice_id, kind, created_at, text, data }: OutgoingNotice,
  secret: string,
  now_ms: number,
): EncodedNotice {
  const body = JSON.stringify({
    type: TYPES[kind],
    timestamp: created_at,
    data: { title: text.title, ...data },
  });
  const t = Math.floor(now_ms / 1000);
  return {
    headers: {
      'webhook-id': notice_id,
      'webhook-timestamp': String(t),
      'webhook-signature': `v1,${standardSignature(secret, notice_id, t, body)}`,
    },
    body,
  };
}
