import { MAX_CHANNELS } from '@purser/contract/values/channels';
import { auditedChannel, type Channel } from '@purser/rules/notices/channels';
import { type Command, done, refuse } from '../../lane/command.ts';

export type CreateChannelInput = Pick<
  Channel,
  'name' | 'type' | 'target' | 'sealed_settings' | 'settings_hash' | 'filter' | 'quiet_hours' | 'show_claims'
>;

/** Creates a channel. It gets the notices from then on. */
export const createChannel: Command<CreateChannelInput, Channel> = {
  name: 'createChannel',
  needs: () => ({ webhooks: true }),
  apply(set, input, origin) {
    if (set.outbox.channels().length >= MAX_CHANNELS) {
      return refuse('channel_limit', `The workspace has reached its limit of ${MAX_CHANNELS} channels.`);
    }
    const channel: Channel = {
      channel_id: set.newId('channel'),
      ...input,
      status: 'active',
      disabled_reason: null,
      created_at: set.now,
      updated_at: set.now,
    };
    set.outbox.putChannel(channel);
    set.audit('channel.created', { type: 'channel', id: channel.channel_id }, origin, {
      from: null,
      to: auditedChannel(channel),
      state: { channel },
    });
    return done(channel);
  },
};
