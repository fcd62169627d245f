import { auditedChannel } from '@purser/rules/notices/channels';
import { type Command, done, refuse } from '../../lane/command.ts';
import { NO_SUCH_CHANNEL } from './update-channel.ts';

/** Deletes a channel and its settings. Its pending notices become OBSOLETE. */
export const deleteChannel: Command<{ channel_id: string }, null> = {
  name: 'deleteChannel',
  needs: () => ({ webhooks: true }),
  apply(set, { channel_id }, origin) {
    const channel = set.outbox.channel(channel_id);
    if (channel === undefined) return refuse('not_found', NO_SUCH_CHANNEL);
    set.outbox.deleteChannel(channel_id);
    const shown = auditedChannel(channel);
    set.audit('channel.deleted', { type: 'channel', id: channel_id }, origin, {
      from: shown,
      to: Object.fromEntries(Object.keys(shown).map((field) => [field, null])),
      state: { channel },
    });
    return done(null);
  },
};
