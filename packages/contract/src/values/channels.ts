export const MAX_CHANNELS = 20;
export const MAX_ADDRESSES = 20;

/** The fields of a channel's settings. They are encrypted, and no answer has them. */
export const CHANNEL_SETTINGS = ['url', 'addresses', 'app_token', 'bot_token', 'channel'] as const;
export type ChannelSetting = (typeof CHANNEL_SETTINGS)[number];

interface ChannelTypeRow {
  /** The type in the console. */
  label: string;
  /** The message that it sends, for the reference. */
  sends: string;
  /** The settings that it requires; it takes no others. */
  settings: readonly ChannelSetting[];
  /** True if a secret of its own signs the messages; the answer that creates it shows it once. */
  is_signed?: true;
}

/** The types of channels. */
export const CHANNEL_TYPE_ROWS = {
  slack_webhook: {
    label: 'Slack',
    sends: 'a Block Kit message to an incoming webhook of Slack',
    settings: ['url'],
  },
  teams_webhook: {
    label: 'Microsoft Teams',
    sends: 'a message with an adaptive card to a workflow of Microsoft Teams',
    settings: ['url'],
  },
  webhook: {
    label: 'Webhook',
    sends: 'JSON, signed as Standard Webhooks describe',
    settings: ['url'],
    is_signed: true,
  },
  email: { label: 'E-mail', sends: 'a mail to each address', settings: ['addresses'] },
  slack_app: {
    label: 'Slack app',
    sends: 'a card with buttons, as an app of Slack in Socket Mode',
    settings: ['app_token', 'bot_token', 'channel'],
  },
} as const satisfies Record<string, ChannelTypeRow>;
export type ChannelType = keyof typeof CHANNEL_TYPE_ROWS;
export const CHANNEL_TYPES = Object.keys(CHANNEL_TYPE_ROWS) as [ChannelType, ...ChannelType[]];

export const CHANNEL_STATUSES = ['active', 'disabled'] as const;
export type ChannelStatus = (typeof CHANNEL_STATUSES)[number];

export const HEALTH_STATES = ['UNUSED', 'HEALTHY', 'FAILING', 'DISABLED'] as const;
export type HealthState = (typeof HEALTH_STATES)[number];
/** A channel is FAILING after this many failures on end. */
export const FAILING_AFTER = 3;

/** The kinds of notices, and when each is sent. */
export const NOTICE_KINDS = {
  REQUESTED: 'A request waits for a review.',
  REMINDER: 'The request expires soon.',
  ESCALATED: 'The request was not decided in time, so more people may decide it.',
  ASSIGNED: 'Someone assigned the request to a person.',
  SUMMARY: 'More requests wait: at most one notice a minute.',
  LIMIT: 'Usage reached a percentage of a limit.',
  FAILING: 'Another channel is failing.',
  DIGEST: 'The requests of a day.',
  TEST: 'An administrator tests the channel.',
} as const;
export type NoticeKind = keyof typeof NOTICE_KINDS;
export const NOTICE_KIND_CODES = Object.keys(NOTICE_KINDS) as [NoticeKind, ...NoticeKind[]];

export const NOTICE_STATUSES = ['SCHEDULED', 'SENT', 'RETRYING', 'FAILED', 'OBSOLETE'] as const;
export type NoticeStatus = (typeof NOTICE_STATUSES)[number];
