import type { Decision } from '@purser/contract/decisions';
import type { NoticeKind } from '@purser/contract/values/channels';
import { wallClockReachedMs } from '../values/calendar.ts';
import type { NoticeRecipient } from './recipients.ts';

/** A member who may review, is mailed notices, and has a proved e-mail. `recipient_id` is the id of the user. */
export interface NotifiedPerson extends NoticeRecipient {
  principal_id: string;
  /** The members who lent them their place, and until when: ISO 8601 UTC. */
  stands_for: readonly { principal_id: string; until: string }[];
}

/** The part of a decision that says who may decide it. */
export type DecidedBy = Pick<Decision, 'requested_by' | 'created_at'> & {
  review_tier?: { approvers?: readonly string[]; escalation?: { approvers: readonly string[] } };
};

/**
 * Returns the people who get a notice of this kind about a request: those who may decide it, which the requester may not.
 * Where its tier names approvers, those and the delegates of those who are away; at the escalation, those of the escalation.
 */
export function peopleToNotify(
  people: readonly NotifiedPerson[],
  { requested_by, created_at, review_tier }: DecidedBy,
  kind: NoticeKind,
): NotifiedPerson[] {
  const approvers = kind === 'ESCALATED' ? review_tier?.escalation?.approvers : review_tier?.approvers;
  const may = (principal_id: string) =>
    principal_id !== requested_by.principal_id && (approvers?.includes(principal_id) ?? true);
  const mayForOthers = ({ stands_for }: NotifiedPerson) =>
    stands_for.some(
      ({ principal_id, until }) => may(principal_id) && Date.parse(until) > Date.parse(created_at),
    );
  return people.filter(
    (person) =>
      may(person.principal_id) || (person.principal_id !== requested_by.principal_id && mayForOthers(person)),
  );
}

const DIGEST_MINUTE = 8 * 60;

/** When a digest is due next: the first 08:00 after `now_ms` in the time zone. Milliseconds since 1970 UTC. */
export function nextDigestMs(time_zone: string, now_ms: number): number {
  const moments = [0, 1, 2].map((days) => wallClockReachedMs(time_zone, now_ms, days, DIGEST_MINUTE));
  return Math.min(...moments.filter((ms) => ms > now_ms));
}
