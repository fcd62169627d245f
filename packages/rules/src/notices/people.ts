import type { Decision } from '@purser/contract/decisions';
import type { NoticeKind } from '@purser/contract/values/channels';
import { wallClockReachedMs } from '../values/calendar.ts';
import type { NoticeRecipient } from './recipients.ts';

/** A member who may review, is mailed notices, and has a proved e-mail. `recipient_id` is the id of the user. */
export interface NotifiedPerson extends NoticeRecipient {
  principal_id: string;
}

/** The part of a decision that says who may decide it. */
export type DecidedBy = Pick<Decision, 'requested_by'> & {
  review_tier?: { approvers?: readonly string[]; escalation?: { approvers: readonly string[] } };
};

/**
 * Returns the people who get a notice of this kind about a request: those who may decide it, which the requester may not.
 * Where its tier names approvers, those; at the escalation, those of the escalation.
 */
export function peopleToNotify(
  people: readonly NotifiedPerson[],
  { requested_by, review_tier }: DecidedBy,
  kind: NoticeKind,
): NotifiedPerson[] {
  const approvers = kind === 'ESCALATED' ? review_tier?.escalation?.approvers : review_tier?.approvers;
  return people.filter(
    ({ principal_id }) =>
      principal_id !== requested_by.principal_id && (approvers?.includes(principal_id) ?? true),
  );
}

const DIGEST_MINUTE = 8 * 60;

/** When a digest is due next: the first 08:00 after `now_ms` in the time zone. Milliseconds since 1970 UTC. */
export function nextDigestMs(time_zone: string, now_ms: number): number {
  const moments = [0, 1, 2].map((days) => wallClockReachedMs(time_zone, now_ms, days, DIGEST_MINUTE));
  return Math.min(...moments.filter((ms) => ms > now_ms));
}
