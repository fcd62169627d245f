import { type Static, Type } from 'typebox';
import { WEEKDAYS } from '../../calendar.ts';
import { TEXT_LENGTHS } from '../../limits.ts';
import { REASON_CODES } from '../../reasons.ts';
import { route } from '../../route.ts';
import {
  AgentRef,
  Currency,
  Fields,
  Formed,
  Id,
  LimitMinor,
  Line,
  Nullable,
  OneOf,
  PageQuery,
  page,
  Timestamp,
  TimeZone,
} from '../../schema.ts';
import {
  CHANNEL_STATUSES,
  CHANNEL_TYPE_ROWS,
  CHANNEL_TYPES,
  FAILING_AFTER,
  HEALTH_STATES,
  MAX_ADDRESSES,
  MAX_CHANNELS,
} from '../../values/channels.ts';
import { MAX_URL_LENGTH } from '../../values/webhooks.ts';
import { secret } from '../webhooks.ts';

const MAX_FILTERED = 50;

const Name = Line({ max: TEXT_LENGTHS.name }, { examples: ['Finance in Slack'] });

const FilterBody = Fields(
  {
    agents: Type.Optional(
      Type.Array(AgentRef(), {
        minItems: 1,
        maxItems: MAX_FILTERED,
        description: 'Only requests of these agents.',
      }),
    ),
    currency: Type.Optional(Currency({ description: 'Only requests in this currency.', examples: ['EUR'] })),
    from_minor: Type.Optional(
      LimitMinor({ description: 'Only requests of at least this amount.', examples: [100_000] }),
    ),
    reasons: Type.Optional(
      Type.Array(OneOf(REASON_CODES), {
        minItems: 1,
        maxItems: MAX_FILTERED,
        description: 'Only requests that wait for one of these reasons.',
      }),
    ),
  },
  { $id: 'ChannelFilter', description: 'The requests that the channel is notified of; all must match.' },
);
export interface ChannelFilter extends Static<typeof FilterBody> {}

export const QuietHoursBody = Fields(
  {
    time_zone: TimeZone(),
    from: Formed('^([01][0-9]|2[0-3]):[0-5][0-9]$', 'must be a time from 00:00 to 23:59', {
      examples: ['19:00'],
    }),
    to: Formed('^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$', 'must be a time from 00:00 to 24:00', {
      description: 'Exclusive. If it is not later than `from`, it falls on the next day.',
      examples: ['08:00'],
    }),
    days: Type.Optional(
      Type.Array(OneOf(WEEKDAYS), {
        minItems: 1,
        maxItems: 7,
        uniqueItems: true,
        description: 'The days on which the hours begin; by default all.',
      }),
    ),
  },
  {
    $id: 'QuietHours',
    description:
      'Notices of these hours are sent when the hours end. A notice of a request that expires before is sent at once.',
  },
);
export interface QuietHours extends Static<typeof QuietHoursBody> {}

const Url = Line(
  { max: MAX_URL_LENGTH },
  {
    description:
      'The public `https://` URL of a `slack_webhook`, `teams_webhook` or `webhook`. It is encrypted, and no response contains it.',
    examples: ['https://hooks.example.com/services/T0/B0/x'],
  },
);
const Address = Formed('^[!-?A-~]{1,64}@[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+$', 'must be an e-mail address', {
  examples: ['finance@example.com'],
});
const Token = (prefix: string, what: string) =>
  Formed(`^${prefix}-[!-~]{1,250}$`, `must be ${what}, which begins with ${prefix}-`, {
    description: `${what.charAt(0).toUpperCase() + what.slice(1)} of a \`slack_app\`. It is encrypted, and no response contains it.`,
    examples: [`${prefix}-1-A0-123`],
  });

const settings = {
  url: Type.Optional(Url),
  app_token: Type.Optional(Token('xapp', 'an app-level token')),
  bot_token: Type.Optional(Token('xoxb', 'a bot token')),
  channel: Type.Optional(
    Formed('^#?[A-Za-z0-9._-]{1,80}$', 'must be the id or the name of a channel', {
      description: 'The id or name of the channel in Slack that a `slack_app` posts to.',
      examples: ['C0123ABCD'],
    }),
  ),
  addresses: Type.Optional(
    Type.Array(Address, {
      minItems: 1,
      maxItems: MAX_ADDRESSES,
      uniqueItems: true,
      description: 'The addresses of an `email` channel.',
    }),
  ),
};

const ShowClaims = Type.Boolean({
  description: "False: notices leave out the description, which is the agent's text. The default is true.",
});

const CreateBody = Fields(
  {
    name: Name,
    type: OneOf(CHANNEL_TYPES),
    ...settings,
    filter: Type.Optional(FilterBody),
    quiet_hours: Type.Optional(QuietHoursBody),
    show_claims: Type.Optional(ShowClaims),
  },
  {
    $id: 'CreateChannelRequest',
    examples: [{ name: 'Pager', type: 'webhook', url: 'https://pager.example.com/purser' }],
  },
);

const UpdateBody = Fields(
  {
    name: Type.Optional(Name),
    ...settings,
    filter: Type.Optional(Nullable(FilterBody)),
    quiet_hours: Type.Optional(Nullable(QuietHoursBody)),
    show_claims: Type.Optional(ShowClaims),
    status: Type.Optional(
      OneOf(CHANNEL_STATUSES, { description: 'While it is `disabled`, it gets no notices.' }),
    ),
  },
  { $id: 'UpdateChannelRequest' },
);

export const HealthBody = Fields(
  {
    state: OneOf(HEALTH_STATES, {
      description: `\`UNUSED\`: it delivered nothing yet, though it may have failed; \`last_error\` says why. \`FAILING\`: at least ${FAILING_AFTER} failures since the last success. \`DISABLED\`: by an administrator, because the receiver is gone, or after 5 days of failures only.`,
    }),
    last_success_at: Nullable(Timestamp()),
    failing_since: Nullable(Timestamp({ description: 'The first failure since the last success.' })),
    last_error: Nullable(Type.String({ examples: ['timeout'] })),
  },
  { $id: 'ChannelHealth' },
);

const shown = {
  id: Id('channel'),
  name: Type.String(),
  type: OneOf(CHANNEL_TYPES),
  status: OneOf(CHANNEL_STATUSES),
  target: Type.String({
    description: 'The host of the URL, the addresses, or the channel in Slack with its host.',
    examples: ['hooks.example.com'],
  }),
  filter: Nullable(FilterBody),
  quiet_hours: Nullable(QuietHoursBody),
  show_claims: Type.Boolean(),
  health: HealthBody,
  created_at: Timestamp(),
  updated_at: Timestamp(),
};

export const ChannelBody = Fields(shown, { $id: 'Channel' });

const NewChannel = Fields(
  { ...shown, secret: Type.Optional(secret) },
  { $id: 'NewChannel', description: 'Only a `webhook` channel has a `secret`.' },
);

const IdParams = Fields({ id: Type.String() });

const TYPES_IN_WORDS = Object.entries(CHANNEL_TYPE_ROWS)
  .map(([type, { sends }]) => `\`${type}\` sends ${sends}`)
  .join('; ');

export const routes = {
  createChannel: route({
    method: 'POST',
    path: '/v1/channels',
    operationId: 'createChannel',
    tag: 'Notices',
    summary: 'Create a channel',
    description: `A channel gets a notice of each request that waits for a review. ${TYPES_IN_WORDS}. A workspace may have at most ${MAX_CHANNELS}, on every plan.`,
    scopes: ['admin'],
    body: CreateBody,
    responses: { 201: { description: 'The channel.', schema: NewChannel } },
    errors: ['not_found', 'channel_limit', 'email_not_configured'],
  }),
  listChannels: route({
    method: 'GET',
    path: '/v1/channels',
    operationId: 'listChannels',
    tag: 'Notices',
    summary: 'List the channels',
    description: 'Newest first, without URLs and secrets.',
    scopes: ['admin'],
    query: Fields(PageQuery),
    responses: {
      200: { description: 'A page of channels.', schema: page(ChannelBody, { $id: 'ChannelPage' }) },
    },
    errors: [],
  }),
  getChannel: route({
    method: 'GET',
    path: '/v1/channels/:id',
    operationId: 'getChannel',
    tag: 'Notices',
    summary: 'Get one channel',
    description: 'Without its URL and secret.',
    scopes: ['admin'],
    params: IdParams,
    responses: { 200: { description: 'The channel.', schema: ChannelBody } },
    errors: ['not_found'],
  }),
  updateChannel: route({
    method: 'PATCH',
    path: '/v1/channels/:id',
    operationId: 'updateChannel',
    tag: 'Notices',
    summary: 'Change a channel',
    description:
      'Omitted fields stay unchanged; null removes a filter or quiet hours. The type cannot be changed. Notices that already wait are sent to the new settings.',
    scopes: ['admin'],
    params: IdParams,
    body: UpdateBody,
    responses: { 200: { description: 'The updated channel.', schema: ChannelBody } },
    errors: ['not_found', 'email_not_configured'],
  }),
  deleteChannel: route({
    method: 'DELETE',
    path: '/v1/channels/:id',
    operationId: 'deleteChannel',
    tag: 'Notices',
    summary: 'Delete a channel',
    description:
      'Ends its notices at once, pending ones included, and deletes its settings. Its notices stay listed.',
    scopes: ['admin'],
    params: IdParams,
    responses: { 204: { description: 'The channel is deleted.', schema: null } },
    errors: ['not_found'],
  }),
  testChannel: route({
    method: 'POST',
    path: '/v1/channels/:id/test',
    operationId: 'testChannel',
    tag: 'Notices',
    summary: 'Send a test notice',
    description:
      'Sends a TEST notice to this channel only, at once even during quiet hours. `GET /v1/notices?channel=…` shows its result.',
    scopes: ['admin'],
    params: IdParams,
    responses: {
      202: {
        description: 'The notice is queued.',
        schema: Fields({ channel_id: Id('channel'), notice_id: Id('notice') }, { $id: 'ChannelTest' }),
      },
    },
    errors: ['not_found'],
  }),
};
