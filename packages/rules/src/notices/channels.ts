import type { ChannelFilter, QuietHours } from '@purser/contract/routes/notices/channels';
import {
  type ChannelSetting,
  type ChannelStatus,
  type ChannelType,
  FAILING_AFTER,
  type HealthState,
  type NoticeKind,
  type NoticeStatus,
} from '@purser/contract/values/channels';

export type ChannelDisabledReason = 'REQUESTED' | 'ONLY_FAILURES' | 'GONE';

/** The settings of a channel of a type, in plain text. They may contain secrets. */
export interface ChannelSettings extends Partial<Record<ChannelSetting, string | readonly string[]>> {
  url?: string;
  addresses?: readonly string[];
  app_token?: string;
  bot_token?: string;
  channel?: string;
  /** Signs the messages of a `webhook`. */
  secret?: string;
}

/** A channel as it is stored. */
export interface Channel {
  channel_id: string;
  name: string;
  type: ChannelType;
  status: ChannelStatus;
  disabled_reason: ChannelDisabledReason | null;
  /** The host of the URL, or the addresses: the only part of the settings that is shown. */
  target: string;
  /** ChannelSettings as JSON, encrypted. */
  sealed_settings: string;
  /** SHA-256 of the settings as JSON, as the API shows hashes. */
  settings_hash: string;
  filter: ChannelFilter | null;
  quiet_hours: QuietHours | null;
  show_claims: boolean;
  created_at: string;
  updated_at: string;
}

/** The results of a channel's attempts. */
export interface ChannelHealth {
  /** Since the last success. */
  failures: number;
  last_success_at: string | null;
  failing_since: string | null;
  last_error: string | null;
}

/** A notice as it is stored. `due_at` of one that is SCHEDULED or RETRYING is that of its delivery. */
export interface Notice {
  notice_id: string;
  kind: NoticeKind;
  decision_id: string | null;
  /** The queue that it waits in: the id of a channel or of the user who is notified. */
  recipient_id: string;
  /** The channel's name or the person's principal when the notice was made. */
  recipient: string;
  status: NoticeStatus;
  due_at: string;
  attempts: number;
  error: string | null;
  /** JSON: what the message says besides the facts of the decision. Null: nothing. */
  data: string | null;
}

/** The health of a channel as the API shows it. */
export function healthBody(channel: Pick<Channel, 'status'>, health: ChannelHealth | null) {
  const { failures = 0, last_success_at = null, failing_since = null, last_error = null } = health ?? {};
  return {
    state: healthState(channel, failures, last_success_at),
    last_success_at,
    failing_since,
    last_error,
  };
}

function healthState(
  { status }: Pick<Channel, 'status'>,
  failures: number,
  last_success_at: string | null,
): HealthState {
  if (status === 'disabled') return 'DISABLED';
  if (failures >= FAILING_AFTER) return 'FAILING';
  return last_success_at === null ? 'UNUSED' : 'HEALTHY';
}

/** A channel as the audit list shows it: of its settings only their target and hash. */
export function auditedChannel(channel: Channel) {
  const { channel_id, sealed_settings: _, ...shown } = channel;
  return { id: channel_id, ...shown };
}

/** A channel as the API shows it. */
export function channelBody(channel: Channel, health: ChannelHealth | null) {
  const { channel_id, name, type, status, target, filter, quiet_hours, show_claims } = channel;
  const { created_at, updated_at } = channel;
  return {
    id: channel_id,
    name,
    type,
    status,
    target,
    filter,
    quiet_hours,
    show_claims,
    health: healthBody(channel, health),
    created_at,
    updated_at,
  };
}
