import { recipientOf } from '@purser/rules/notices/recipients';
import { type Command, done, refuse } from '../../lane/command.ts';
import { NO_SUCH_CHANNEL } from './update-channel.ts';

/** Sends a TEST notice to one channel, at once, retried like every other. */
export const testChannel: Command<{ channel_id: string }, { notice_id: string }> = {
  name: 'testChannel',
  needs: () => ({ webhooks: true }),
  apply(set, { channel_id }) {
    const channel = set.outbox.channel(channel_id);
    if (channel === undefined) return refuse('not_found', NO_SUCH_CHANNEL);
    if (channel.status !== 'active') {
      return refuse('invalid_request', 'status: the channel is disabled; activate it first');
    }
    const notice_id = set.outbox.notices.test(recipientOf(channel));
    return done({ notice_id });
  },
};
