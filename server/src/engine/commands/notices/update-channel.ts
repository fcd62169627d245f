import type { ChannelStatus } from '@purser/contract/values/channels';
import { auditedChannel, type Channel, type ChannelDisabledReason } from '@purser/rules/notices/channels';
import { type Command, done, refuse } from '../../lane/command.ts';
import { type CreateChannelInput, NO_SUCH_AGENT } from './create-channel.ts';

export interface UpdateChannelInput {
  channel_id: string;
  changes: Partial<Omit<CreateChannelInput, 'type'>> & { status?: ChannelStatus };
  /** The reason, if this change disables the channel. */
  reason: ChannelDisabledReason;
}

export const NO_SUCH_CHANNEL = 'No such channel.';

/** Changes a channel. While it is disabled it gets no notices. Without a difference nothing is written. */
export const updateChannel: Command<UpdateChannelInput, Channel> = {
  name: 'updateChannel',
  needs: (input) => ({ webhooks: true, agents: input.changes.filter?.agents ?? [] }),
  apply(set, { channel_id, changes, reason }, origin) {
    const before = set.outbox.channel(channel_id);
    if (before === undefined) return refuse('not_found', NO_SUCH_CHANNEL);
    if (changes.filter?.agents?.some((ref) => set.agent(ref) === undefined))
      return refuse('not_found', NO_SUCH_AGENT);
    const { sealed_settings: _, ...compared } = changes;
    // The same settings are sealed differently each time, but have the same hash.
    const same = Object.entries(compared).every(
      ([field, value]) => JSON.stringify(before[field as keyof Channel]) === JSON.stringify(value),
    );
    if (same) return done(before);
    const status = changes.status ?? before.status;
    const disabled_reason = before.status === 'disabled' ? before.disabled_reason : reason;
    const after: Channel = {
      ...before,
      ...changes,
      disabled_reason: status === 'active' ? null : disabled_reason,
      updated_at: set.now,
    };
    set.outbox.putChannel(after);
    set.audit('channel.updated', { type: 'channel', id: channel_id }, origin, {
      from: auditedChannel(before),
      to: auditedChannel(after),
      state: { channel: after },
    });
    return done(after);
  },
};
