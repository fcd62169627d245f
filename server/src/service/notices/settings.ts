import {
  CHANNEL_SETTINGS,
  CHANNEL_TYPE_ROWS,
  type ChannelSetting,
  type ChannelType,
} from '@purser/contract/values/channels';
import { shownSha256 } from '@purser/rules/domain/ledger';
import { invalidField } from '@purser/rules/errors';
import type { Channel, ChannelSettings } from '@purser/rules/notices/channels';
import { judgeUrl } from '../webhook-delivery/urls.ts';

/** The host that apps of Slack post to. */
const SLACK_HOST = 'slack.com';

/** Settings as a request gives them. */
export type GivenSettings = Pick<ChannelSettings, ChannelSetting>;

/**
 * Returns the settings that a request gives for a channel of this type, URLs in their normal form. Throws
 * `invalid_request` for a setting that the type does not take, for a URL that is not allowed, and, with `all`, for one
 * that is missing.
 */
export function judgedSettings(
  type: ChannelType,
  given: GivenSettings,
  { allow_private, all }: { allow_private: boolean; all: boolean },
): GivenSettings {
  const taken: readonly ChannelSetting[] = CHANNEL_TYPE_ROWS[type].settings;
  const found: GivenSettings = {};
  for (const name of CHANNEL_SETTINGS) {
    const value = given[name];
    if (value === undefined) {
      if (all && taken.includes(name)) throw invalidField(name, `is required for ${type}`);
      continue;
    }
    if (!taken.includes(name)) throw invalidField(name, `must not be given for ${type}`);
    Object.assign(found, { [name]: value });
  }
  if (found.url !== undefined) {
    const judged = judgeUrl(found.url, allow_private);
    if (!judged.ok) throw invalidField('url', judged.problem);
    found.url = judged.url;
  }
  return found;
}

/** Returns the columns of a channel that hold its settings. `seal` encrypts a text for the channel's workspace. */
export function storedSettings(
  settings: ChannelSettings,
  seal: (text: string) => string,
): Pick<Channel, 'target' | 'sealed_settings' | 'settings_hash'> {
  const text = JSON.stringify(settings);
  return { target: targetOf(settings), sealed_settings: seal(text), settings_hash: shownSha256(text) };
}

/** The part of the settings that is shown. */
function targetOf({ url, addresses, channel }: ChannelSettings): string {
  if (channel !== undefined) return `${SLACK_HOST} ${channel}`;
  return url === undefined ? (addresses ?? []).join(', ') : new URL(url).host;
}

/** Reads settings that were decrypted. */
export function parseSettings(text: string): ChannelSettings {
  return JSON.parse(text) as ChannelSettings;
}
