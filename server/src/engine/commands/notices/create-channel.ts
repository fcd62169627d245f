import { MAX_CHANNELS } from '@purser/contract/values/channels';
import { auditedChannel, type Channel } from '@purser/rules/notices/channels';
import { type Command, done, refuse } from '../../lane/command.ts';

export type CreateChannelInput = Pick<
  Channel,
  'name' | 'type' | 'target' | 'sealed_settings' | 'settings_hash' | 'filter' | 'quiet_hours' | 'show_claims'
>;

/** The refusal of a filter that names an agent that does not exist. */
export const NO_SUCH_AGENT = 'No such agent: filter.agents.';

/** Creates a channel. It gets the notices from then on. */
export const createChannel: Command<CreateChannelInput, Channel> = {
  name: 'createChannel',
  needs: (input) => ({ webhooks: true, agents: input.filter?.agents ?? [] }),
  apply(set, input, origin) {
    if (set.outbox.channels().length >= MAX_CHANNELS) {
      return refuse('channel_limit', `The workspace has reached its limit of ${MAX_CHANNELS} channels.`);
    }
    if (input.filter?.agents?.some((ref) => set.agent(ref) === undefined))
      return refuse('not_found', NO_SUCH_AGENT);
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
