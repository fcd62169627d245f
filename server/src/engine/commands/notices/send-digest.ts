import type { NoticeRecipient } from '@purser/rules/notices/recipients';
import type { SummedRequests } from '@purser/rules/notices/text';
import { type Command, done } from '../../lane/command.ts';

export interface SendDigestInput {
  person: NoticeRecipient;
  /** When it was due, ISO 8601 UTC. */
  due_at: string;
  summed: SummedRequests;
}

/** Sends a person the digest of one moment, once, however many processes ask for it. */
export const sendDigest: Command<SendDigestInput, null> = {
  name: 'sendDigest',
  needs: ({ person }) => ({ last_digests_of: [person.recipient_id] }),
  apply(set, { person, due_at, summed }) {
    set.outbox.notices.digest(person, due_at, summed);
    return done(null);
  },
};
