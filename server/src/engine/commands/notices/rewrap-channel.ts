import { type Command, done } from '../../lane/command.ts';

export interface RewrapChannelInput {
  channel_id: string;
  /** The settings as they were sealed, and the same settings sealed again. */
  before: string;
  after: string;
}

/** Stores a channel's settings sealed with the current secret key. Returns the number of channels changed, 0 or 1. */
export const rewrapChannel: Command<RewrapChannelInput, number> = {
  name: 'rewrapChannel',
  needs: () => ({ webhooks: true }),
  apply(set, { channel_id, before, after }, origin) {
    const found = set.outbox.channel(channel_id);
    if (found === undefined || found.sealed_settings !== before) return done(0);
    const channel = { ...found, sealed_settings: after };
    set.outbox.putChannel(channel);
    set.audit('channel.settings_rewrapped', { type: 'channel', id: channel_id }, origin, {
      from: {},
      to: {},
      state: { channel },
    });
    return done(1);
  },
};
