import { routes } from '@purser/contract/routes/notices/channels';
import {
  CHANNEL_SETTINGS,
  CHANNEL_TYPE_ROWS,
  type ChannelSetting,
  type ChannelType,
} from '@purser/contract/values/channels';
import { ApiError } from '@purser/rules/errors';
import { type Channel, type ChannelSettings, channelBody } from '@purser/rules/notices/channels';
import type pg from 'pg';
import { createChannel } from '../../../engine/commands/notices/create-channel.ts';
import { deleteChannel } from '../../../engine/commands/notices/delete-channel.ts';
import { testChannel } from '../../../engine/commands/notices/test-channel.ts';
import { NO_SUCH_CHANNEL, updateChannel } from '../../../engine/commands/notices/update-channel.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import { type ChannelWithHealth, listChannels } from '../../../engine/storage/notices/channels.ts';
import { type Cursors, pageOf } from '../../http/cursors.ts';
import { type Handler, type Route, serve } from '../../http/route.ts';
import { type GivenSettings, judgedSettings, parseSettings, storedSettings } from '../../notices/settings.ts';
import { originOf } from '../../people/callers.ts';

export interface ChannelRouteOptions {
  db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
  /** True if URLs may be `http://` and on loopback or private networks. */
  allow_private: boolean;
  /** True if this service has a mail server, which channels of the type `email` need. */
  has_mail: boolean;
  newSecret: () => string;
  /** Encrypts settings for their workspace, and decrypts them. */
  seal: (workspace_id: string, settings: string) => string;
  open: (workspace_id: string, sealed: string) => string;
}

/** Makes the routes for channels. */
export function makeChannelRoutes(options: ChannelRouteOptions): Route[] {
  return [
    serve(routes.createChannel)(handleCreate(options)),
    serve(routes.listChannels, { shares: 'reads' })(handleList(options)),
    serve(routes.getChannel, { shares: 'reads' })(handleGet(options)),
    serve(routes.updateChannel)(handleUpdate(options)),
    serve(routes.deleteChannel)(handleDelete(options)),
    serve(routes.testChannel)(handleTest(options)),
  ];
}

const shown = ({ channel, health }: ChannelWithHealth) => channelBody(channel, health);

async function findChannel(db: pg.Pool, workspace_id: string, only: string): Promise<ChannelWithHealth> {
  const [found] = await listChannels(db, workspace_id, { after: null, limit: 1, only });
  if (found === undefined) throw new ApiError('not_found', NO_SUCH_CHANNEL);
  return found;
}

/** Throws `email_not_configured` where nothing could be sent to a channel of this type. */
function checkType(type: ChannelType, { has_mail }: ChannelRouteOptions): void {
  if (type !== 'email' || has_mail) return;
  throw new ApiError('email_not_configured', 'The service sends no mail: set SMTP_URL and SMTP_FROM.');
}

function handleCreate(options: ChannelRouteOptions): Handler<typeof routes.createChannel> {
  const { lane, newSecret, seal, allow_private } = options;
  return async (call) => {
    const { workspace_id } = call.caller;
    const { name, type, filter, quiet_hours, show_claims } = call.body;
    const given = judgedSettings(type, givenOf(call.body), { allow_private, all: true });
    checkType(type, options);
    const secret = 'is_signed' in CHANNEL_TYPE_ROWS[type] ? { secret: newSecret() } : {};
    const input = {
      name,
      type,
      ...storedSettings({ ...given, ...secret }, (text) => seal(workspace_id, text)),
      filter: filter ?? null,
      quiet_hours: quiet_hours ?? null,
      show_claims: show_claims ?? true,
    };
    const channel = await lane.submit(workspace_id, createChannel, input, originOf(call));
    return { status: 201, body: { ...channelBody(channel, null), ...secret } };
  };
}

/** The settings among the fields of a request. */
function givenOf(
  body: {
    [Name in ChannelSetting]?: GivenSettings[Name] | undefined;
  },
): GivenSettings {
  const given = CHANNEL_SETTINGS.filter((name) => body[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, body[name]]));
}

function handleList({ db, cursors }: ChannelRouteOptions): Handler<typeof routes.listChannels> {
  return async ({ caller: { workspace_id }, query: { limit = 50, cursor } }) => {
    const list = ['listChannels', workspace_id];
    const after = cursors.open(list, cursor) as string | null;
    const found = await listChannels(db, workspace_id, { after, limit: limit + 1 });
    const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.channel.channel_id));
    return { status: 200, body: { data: rows.map(shown), next_cursor } };
  };
}

function handleGet({ db }: ChannelRouteOptions): Handler<typeof routes.getChannel> {
  return async ({ caller, params }) => ({
    status: 200,
    body: shown(await findChannel(db, caller.workspace_id, params.id)),
  });
}

/** The settings of a channel with those that a request changes; null if it changes none. */
function changedSettings(
  channel: Channel,
  given: GivenSettings,
  options: ChannelRouteOptions,
  workspace_id: string,
): ChannelSettings | null {
  const { allow_private, open } = options;
  const judged = judgedSettings(channel.type, given, { allow_private, all: false });
  if (Object.keys(judged).length === 0) return null;
  return { ...parseSettings(open(workspace_id, channel.sealed_settings)), ...judged };
}

function handleUpdate(options: ChannelRouteOptions): Handler<typeof routes.updateChannel> {
  const { db, lane, seal } = options;
  return async (call) => {
    const { workspace_id } = call.caller;
    const { url: _, addresses: _a, app_token: _t, bot_token: _b, channel: _c, ...fields } = call.body;
    const { channel } = await findChannel(db, workspace_id, call.params.id);
    if (fields.status === 'active') checkType(channel.type, options);
    const settings = changedSettings(channel, givenOf(call.body), options, workspace_id);
    const changes = {
      ...fields,
      ...(settings === null ? {} : storedSettings(settings, (text) => seal(workspace_id, text))),
    };
    const input = { channel_id: channel.channel_id, changes, reason: 'REQUESTED' as const };
    await lane.submit(workspace_id, updateChannel, input, originOf(call));
    return { status: 200, body: shown(await findChannel(db, workspace_id, channel.channel_id)) };
  };
}

function handleDelete({ lane }: ChannelRouteOptions): Handler<typeof routes.deleteChannel> {
  return async (call) => {
    const input = { channel_id: call.params.id };
    await lane.submit(call.caller.workspace_id, deleteChannel, input, originOf(call));
    return { status: 204 };
  };
}

function handleTest({ lane }: ChannelRouteOptions): Handler<typeof routes.testChannel> {
  return async (call) => {
    const channel_id = call.params.id;
    const { workspace_id } = call.caller;
    const { notice_id } = await lane.submit(workspace_id, testChannel, { channel_id }, originOf(call));
    return { status: 202, body: { channel_id, notice_id } };
  };
}
