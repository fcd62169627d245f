import type { Channel, CreateChannelRequest, Notice } from '@purser/sdk';
import type { Context } from './context.ts';
import { EXIT } from './failure.ts';
import { pause } from './follow.ts';
import { oneLine } from './simulation-text.ts';

const LOOK_MS = 300;
const MAX_LOOKS = 100;

function channelLine({ id, name, type, target, health }: Channel): string {
  const error = health.state === 'FAILING' && health.last_error !== null ? ` (${health.last_error})` : '';
  return `${id}  ${health.state}${error}  ${type}  ${oneLine(target, 80)}  ${oneLine(name, 64)}`;
}

/** Lists the channels, newest first. */
export async function listChannels(context: Context, { json }: { json?: boolean }): Promise<number> {
  const client = await context.client();
  let count = 0;
  for await (const channel of client.channels.list()) {
    count += 1;
    if (json) context.json(channel);
    else context.say(channelLine(channel));
  }
  if (count === 0 && !json) context.say('No channels.');
  return EXIT.ok;
}

export interface AddChannelOptions {
  type: CreateChannelRequest['type'];
  url?: string;
  address?: string[];
  slackChannel?: string;
  agent?: string[];
  currency?: string;
  fromMinor?: number;
  hideClaims?: boolean;
  json?: boolean;
}

/** The settings of a Slack app. Its tokens come from the environment alone. */
function slackSettings({ type, slackChannel }: AddChannelOptions, env: Context['env']) {
  if (type !== 'slack_app') return {};
  const { PURSER_SLACK_APP_TOKEN: app_token, PURSER_SLACK_BOT_TOKEN: bot_token } = env;
  return {
    ...(app_token === undefined ? {} : { app_token }),
    ...(bot_token === undefined ? {} : { bot_token }),
    ...(slackChannel === undefined ? {} : { channel: slackChannel }),
  };
}

/** Adds a channel. Its URL may be in `PURSER_CHANNEL_URL`, since other users of a machine see the arguments of commands. */
export async function addChannel(
  context: Context,
  name: string,
  options: AddChannelOptions,
): Promise<number> {
  const { type, address, agent, currency, fromMinor, hideClaims, json } = options;
  const has_url = type !== 'email' && type !== 'slack_app';
  const url = options.url ?? (has_url ? context.env.PURSER_CHANNEL_URL : undefined);
  const filter = {
    ...(agent === undefined ? {} : { agents: agent }),
    ...(currency === undefined ? {} : { currency }),
    ...(fromMinor === undefined ? {} : { from_minor: fromMinor }),
  };
  const client = await context.client();
  const channel = await client.channels.create({
    name,
    type,
    ...(url === undefined ? {} : { url }),
    ...(address === undefined ? {} : { addresses: address }),
    ...slackSettings(options, context.env),
    ...(Object.keys(filter).length === 0 ? {} : { filter }),
    ...(hideClaims ? { show_claims: false } : {}),
  });
  if (json) context.json(channel);
  else {
    context.say(channelLine(channel));
    if (channel.secret !== undefined) context.say(`Secret, shown only here: ${channel.secret}`);
  }
  return EXIT.ok;
}

/** Sends a test notice and waits for its result. */
export async function testChannel(
  context: Context,
  id: string,
  { json }: { json?: boolean },
): Promise<number> {
  const client = await context.client();
  const { notice_id } = await client.channels.test(id);
  let notice: Notice | undefined;
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const { data } = await client.notices.list({ channel: id });
    notice = data.find((each) => each.id === notice_id);
    // One failure is enough to know; the other attempts follow by themselves.
    if (notice !== undefined && notice.status !== 'SCHEDULED') break;
    if (!(await pause(LOOK_MS, context.signal))) break;
  }
  if (json) context.json(notice ?? { id: notice_id, status: 'SCHEDULED' });
  else if (notice?.status === 'SENT') context.say('Sent.');
  else context.say(`Not sent: ${notice?.error ?? 'no result yet'}.`);
  return notice?.status === 'SENT' ? EXIT.ok : EXIT.differs;
}

/** Enables or disables a channel. */
export async function setChannelStatus(
  context: Context,
  id: string,
  status: Channel['status'],
): Promise<number> {
  const client = await context.client();
  context.say(channelLine(await client.channels.update(id, { status })));
  return EXIT.ok;
}

/** Deletes a channel. */
export async function removeChannel(context: Context, id: string): Promise<number> {
  const client = await context.client();
  await client.channels.delete(id);
  context.say('Deleted.');
  return EXIT.ok;
}
