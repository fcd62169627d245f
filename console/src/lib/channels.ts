import { WEEKDAYS } from '@purser/contract/calendar';
import { CHANNEL_TYPE_ROWS, type ChannelSetting } from '@purser/contract/values/channels';
import type { Channel, ChannelFilter, Notice, QuietHours } from '@purser/sdk';
import { isTimeZone } from './authority/zones.ts';
import { formatMoney, fromInput, toInput } from './money.ts';
import { reasonWords } from './words.ts';

/** The kinds of notices. */
export const NOTICE_WORDS: Readonly<Record<Notice['kind'], string>> = {
  REQUESTED: 'Request',
  REMINDER: 'Reminder',
  ESCALATED: 'Escalation',
  ASSIGNED: 'Assignment',
  SUMMARY: 'Summary',
  LIMIT: 'Limit',
  FAILING: 'Failing channel',
  DIGEST: 'Digest',
  TEST: 'Test',
};

/** Quiet hours as a form has them; `days` are separated by commas. */
export interface QuietDraft extends Record<string, string> {
  quiet: 'on' | 'off';
  quiet_from: string;
  quiet_to: string;
  quiet_days: string;
  quiet_zone: string;
}

/** A channel as its form has it. Lists are separated by commas. */
export interface ChannelDraft extends QuietDraft {
  name: string;
  type: Channel['type'];
  url: string;
  addresses: string;
  app_token: string;
  bot_token: string;
  channel: string;
  agents: string;
  currency: string;
  from: string;
  reasons: string;
  claims: 'yes' | 'no';
}

export type DraftProblems = Partial<Record<string, string>>;

const listOf = (text: string) =>
  text
    .split(/[\s,;]+/)
    .map((each) => each.trim())
    .filter((each) => each !== '');

/** The draft of quiet hours; without any, the night in the browser's time zone. */
export function quietDraft(hours: QuietHours | null, zone: string): QuietDraft {
  return {
    quiet: hours === null ? 'off' : 'on',
    quiet_from: hours?.from ?? '19:00',
    quiet_to: hours?.to ?? '08:00',
    quiet_days: (hours?.days ?? WEEKDAYS).join(),
    quiet_zone: hours?.time_zone ?? zone,
  };
}

/** The quiet hours of a draft. */
export function quietHoursOf(draft: QuietDraft): QuietHours | null {
  if (draft.quiet === 'off') return null;
  const days = WEEKDAYS.filter((day) => listOf(draft.quiet_days).includes(day));
  return {
    time_zone: draft.quiet_zone.trim(),
    from: draft.quiet_from.trim(),
    to: draft.quiet_to.trim(),
    ...(days.length === WEEKDAYS.length ? {} : { days }),
  };
}

/** The problems of a draft's quiet hours. */
export function quietProblems(draft: QuietDraft): DraftProblems {
  if (draft.quiet === 'off') return {};
  return {
    ...(/^([01]\d|2[0-3]):[0-5]\d$/.test(draft.quiet_from.trim())
      ? {}
      : { quiet_from: 'must be a time such as 19:00' }),
    ...(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/.test(draft.quiet_to.trim())
      ? {}
      : { quiet_to: 'must be a time such as 08:00' }),
    ...(listOf(draft.quiet_days).length > 0 ? {} : { quiet_days: 'must include a day' }),
    ...(isTimeZone(draft.quiet_zone.trim()) ? {} : { quiet_zone: 'must be a time zone' }),
  };
}

/** The form of a channel; null: of a new one. */
export function channelDraft(channel: Channel | null, zone: string): ChannelDraft {
  const { agents = [], currency = '', from_minor, reasons = [] } = channel?.filter ?? {};
  return {
    name: channel?.name ?? '',
    type: channel?.type ?? 'slack_webhook',
    url: '',
    addresses: channel?.type === 'email' ? channel.target : '',
    app_token: '',
    bot_token: '',
    channel: '',
    agents: agents.join(', '),
    currency,
    from: currency === '' ? '' : toInput(from_minor, currency),
    reasons: reasons.join(),
    claims: channel?.show_claims === false ? 'no' : 'yes',
    ...quietDraft(channel?.quiet_hours ?? null, zone),
  };
}

function amountOf({ from, currency }: ChannelDraft): { amount_minor: number | null } | { problem: string } {
  if (from.trim() === '') return { amount_minor: null };
  if (!/^[A-Z]{3}$/.test(currency.trim())) return { problem: 'needs a currency' };
  return fromInput(from, currency.trim());
}

/** The problems of a draft; a channel that exists may leave its URL empty to keep it. */
export function channelProblems(draft: ChannelDraft, is_new: boolean): DraftProblems {
  const amount = amountOf(draft);
  const needs = (setting: ChannelSetting) => is_new && settingsOf(draft.type).includes(setting);
  const missing = (setting: 'url' | 'app_token' | 'bot_token' | 'channel', problem: string) =>
    needs(setting) && draft[setting].trim() === '' ? { [setting]: problem } : {};
  return {
    ...(draft.name.trim() === '' ? { name: 'must not be empty' } : {}),
    ...missing('url', 'must be the address that notices are sent to'),
    ...missing('app_token', 'must be the app-level token, which begins with xapp-'),
    ...missing('bot_token', 'must be the bot token, which begins with xoxb-'),
    ...missing('channel', 'must be the ID of a channel in Slack'),
    ...(draft.type === 'email' && listOf(draft.addresses).length === 0
      ? { addresses: 'must have an e-mail address' }
      : {}),
    ...(draft.currency.trim() === '' || /^[A-Z]{3}$/.test(draft.currency.trim())
      ? {}
      : { currency: 'must be a code such as EUR' }),
    ...('problem' in amount ? { from: amount.problem } : {}),
    ...quietProblems(draft),
  };
}

/** The filter of a draft; null: all requests. */
export function filterOf(draft: ChannelDraft): ChannelFilter | null {
  const amount = amountOf(draft);
  const from_minor = 'problem' in amount ? null : amount.amount_minor;
  const agents = listOf(draft.agents);
  const reasons = listOf(draft.reasons) as NonNullable<ChannelFilter['reasons']>;
  const filter = {
    ...(agents.length === 0 ? {} : { agents }),
    ...(draft.currency.trim() === '' ? {} : { currency: draft.currency.trim() }),
    ...(from_minor === null ? {} : { from_minor }),
    ...(reasons.length === 0 ? {} : { reasons }),
  };
  return Object.keys(filter).length === 0 ? null : filter;
}

/** The settings that a type of channel has. */
export const settingsOf = (type: Channel['type']): readonly ChannelSetting[] =>
  CHANNEL_TYPE_ROWS[type].settings;

/** The fields that create and change a channel alike. An empty URL or token is left out. */
export function channelFields(draft: ChannelDraft) {
  const settings: { [Setting in Exclude<ChannelSetting, 'addresses'>]?: string } & { addresses?: string[] } =
    {};
  for (const setting of settingsOf(draft.type)) {
    if (setting === 'addresses') settings.addresses = listOf(draft.addresses);
    else if (draft[setting].trim() !== '') settings[setting] = draft[setting].trim();
  }
  return { name: draft.name.trim(), ...settings, show_claims: draft.claims === 'yes' };
}

/** The requests that a channel is notified of, in words. */
export function filterWords(filter: ChannelFilter | null): string {
  if (filter === null) return 'All requests';
  const { agents, currency, from_minor, reasons } = filter;
  const amount =
    from_minor === undefined
      ? currency
      : currency === undefined
        ? `from ${from_minor} minor units`
        : `from ${formatMoney(from_minor, currency)}`;
  return [agents?.join(', '), amount, reasons?.map(reasonWords).join(', ')]
    .filter((each) => each !== undefined)
    .join('; ');
}

/** Quiet hours in words. */
export function quietWords(hours: QuietHours | null): string {
  if (hours === null) return 'None';
  const days =
    hours.days === undefined
      ? ''
      : `, ${hours.days.map((day) => day[0] + day.slice(1).toLowerCase()).join(' ')}`;
  return `${hours.from}–${hours.to}${days} (${hours.time_zone})`;
}
