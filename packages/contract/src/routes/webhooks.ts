import { Type } from 'typebox';
import { route } from '../route.ts';
import { Fields, Id, Line, Nullable, OneOf, PageQuery, page, Timestamp, WholeNumber } from '../schema.ts';
import {
  DEFAULT_EVENT_TYPES,
  DISABLED_REASONS,
  MAX_EVENT_TYPES,
  MAX_URL_LENGTH,
  MAX_WEBHOOKS,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_STATUSES,
} from '../values/webhooks.ts';

export const DEFAULT_OVERLAP_SECONDS = 86_400;

const MAX_OVERLAP_SECONDS = 604_800;

const UrlIn = Line(
  { max: MAX_URL_LENGTH },
  {
    description: 'A public `https://` URL, without credentials or fragment. Redirects are not followed.',
    examples: ['https://hooks.example.com/purser'],
  },
);

const EventsIn = Type.Array(OneOf(WEBHOOK_EVENT_TYPES), {
  minItems: 1,
  maxItems: MAX_EVENT_TYPES,
  description: 'The event types that the endpoint receives.',
  examples: [['decision.created']],
});

const CreateBody = Fields({
  url: UrlIn,
  events: Type.Optional(EventsIn),
});

const UpdateBody = Fields({
  url: Type.Optional(UrlIn),
  events: Type.Optional(EventsIn),
  status: Type.Optional(
    OneOf(WEBHOOK_STATUSES, { description: 'While it is `disabled`, no events are queued for it.' }),
  ),
});

const RotateBody = Fields({
  overlap_seconds: Type.Optional(
    WholeNumber(
      { min: 0, max: MAX_OVERLAP_SECONDS },
      {
        description: `How long previous secrets continue to sign \`webhook-signature\` in addition to the new one; defaults to ${DEFAULT_OVERLAP_SECONDS}.`,
      },
    ),
  ),
});

const named = {
  id: Id('webhook'),
  url: Type.String({ examples: ['https://hooks.example.com/purser'] }),
  events: Type.Array(OneOf(WEBHOOK_EVENT_TYPES)),
};

export const secret = Type.String({
  pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
  description: 'The signing secret, shown only here.',
});

const shown = {
  ...named,
  status: OneOf(WEBHOOK_STATUSES),
  disabled_reason: Nullable(
    OneOf(DISABLED_REASONS, {
      description: '`ONLY_FAILURES`: only failures for 5 days. Null while it is active.',
    }),
  ),
  secret_rotated_at: Nullable(Timestamp()),
  created_at: Timestamp(),
  updated_at: Timestamp(),
};

const NewWebhook = Fields({ ...named, secret }, { $id: 'NewWebhook' });

const RotatedWebhook = Fields(
  {
    ...named,
    secret,
    previous_secrets_expire_at: Nullable(
      Timestamp({ description: 'Until then, previous secrets also sign; null once they no longer do.' }),
    ),
  },
  { $id: 'RotatedWebhook' },
);

const Webhook = Fields(shown, { $id: 'Webhook' });

const WebhookItem = Fields(
  {
    ...shown,
    failing_since: Nullable(Timestamp({ description: 'The first failure since the last success.' })),
  },
  { $id: 'WebhookItem' },
);

const IdParams = Fields({ id: Type.String() });

const ListQuery = Fields(PageQuery);

export const routes = {
  createWebhook: route({
    method: 'POST',
    path: '/v1/webhooks',
    operationId: 'createWebhook',
    tag: 'Webhooks',
    summary: 'Create an endpoint',
    description: `Needs the Team plan or a trial of it; at most ${MAX_WEBHOOKS} endpoints. Without \`events\` the endpoint receives ${DEFAULT_EVENT_TYPES.map((type) => `\`${type}\``).join(', ')}; other types go only to endpoints that name them. The secret is shown once, in this response.`,
    scopes: ['admin'],
    body: CreateBody,
    responses: { 201: { description: 'The endpoint, with its secret.', schema: NewWebhook } },
    errors: ['not_found', 'plan_required', 'webhook_limit'],
  }),
  listWebhooks: route({
    method: 'GET',
    path: '/v1/webhooks',
    operationId: 'listWebhooks',
    tag: 'Webhooks',
    summary: 'List endpoints',
    description: 'Newest first, without their secrets.',
    scopes: ['admin'],
    query: ListQuery,
    responses: {
      200: { description: 'A page of endpoints.', schema: page(WebhookItem, { $id: 'WebhookPage' }) },
    },
    errors: [],
  }),
  getWebhook: route({
    method: 'GET',
    path: '/v1/webhooks/:id',
    operationId: 'getWebhook',
    tag: 'Webhooks',
    summary: 'Get one endpoint',
    description: 'Without its secret.',
    scopes: ['admin'],
    params: IdParams,
    responses: { 200: { description: 'The endpoint.', schema: WebhookItem } },
    errors: ['not_found'],
  }),
  updateWebhook: route({
    method: 'PATCH',
    path: '/v1/webhooks/:id',
    operationId: 'updateWebhook',
    tag: 'Webhooks',
    summary: 'Change an endpoint',
    description:
      'Omitted fields stay unchanged. Events that happen while it is disabled are not queued for it; deliveries already queued resume when it is active again, to its URL at that time.',
    scopes: ['admin'],
    params: IdParams,
    body: UpdateBody,
    responses: { 200: { description: 'The updated endpoint.', schema: Webhook } },
    errors: ['not_found'],
  }),
  deleteWebhook: route({
    method: 'DELETE',
    path: '/v1/webhooks/:id',
    operationId: 'deleteWebhook',
    tag: 'Webhooks',
    summary: 'Delete an endpoint',
    description:
      'Stops deliveries to it at once, including pending retries, and deletes its secret. Its attempts stay listed.',
    scopes: ['admin'],
    params: IdParams,
    responses: { 204: { description: 'The endpoint is deleted.', schema: null } },
    errors: ['not_found'],
  }),
  rotateWebhookSecret: route({
    method: 'POST',
    path: '/v1/webhooks/:id/rotate-secret',
    operationId: 'rotateWebhookSecret',
    tag: 'Webhooks',
    summary: "Replace an endpoint's secret",
    description:
      'From now on only the new secret signs `x-svc-signature`. `webhook-signature` has one signature for each secret, new and old, until the overlap ends; with `overlap_seconds` 0 the old secrets end now.',
    scopes: ['admin'],
    params: IdParams,
    body: RotateBody,
    bodyOptional: true,
    responses: { 200: { description: 'The endpoint, with its new secret.', schema: RotatedWebhook } },
    errors: ['not_found'],
  }),
  testWebhook: route({
    method: 'POST',
    path: '/v1/webhooks/:id/test',
    operationId: 'testWebhook',
    tag: 'Webhooks',
    summary: 'Send a test event',
    description:
      'Sends a `webhook.test` event to this endpoint only, signed and retried like any other. Its attempts appear among the deliveries.',
    scopes: ['admin'],
    params: IdParams,
    responses: {
      202: {
        description: 'The event is queued.',
        schema: Fields({ endpoint_id: Id('webhook'), event_id: Id('event') }, { $id: 'WebhookTest' }),
      },
    },
    errors: ['not_found'],
  }),
};
