import { type Command, done } from '../../lane/command.ts';

export interface NoteFailingInput {
  channel_id: string;
  /** The first failure since the last success. */
  failing_since: string;
  error: string;
}

/** Sends a FAILING notice of a channel to all others, once for each series of failures. */
export const noteFailing: Command<NoteFailingInput, null> = {
  name: 'noteFailing',
  needs: () => ({ webhooks: true }),
  apply(set, { channel_id, failing_since, error }) {
    const channel = set.outbox.channel(channel_id);
    if (channel !== undefined) set.outbox.notices.failing(channel, failing_since, error);
    return done(null);
  },
};
