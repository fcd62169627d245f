import { Type } from 'typebox';
import { route } from '../route.ts';
import {
  Fields,
  Id,
  IdIn,
  Nullable,
  OneOf,
  PageQuery,
  page,
  QueryBound,
  QuerySeveral,
  Timestamp,
} from '../schema.ts';
import {
  ATTEMPT_STATUSES,
  ATTEMPTS,
  DELIVERED_EVENT_TYPES,
  DELIVERY_ERROR_CODES,
  DELIVERY_ERRORS,
  MAX_REPLAYED,
  TEST_EVENT_TYPE,
  WEBHOOK_EVENT_TYPES,
} from '../values/webhooks.ts';
import { WEBHOOK_EVENTS } from '../webhook-events.ts';

const ERROR_WORDS = Object.entries(DELIVERY_ERRORS)
  .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
  .join(' ');

const attemptFields = {
  id: Id('delivery'),
  endpoint_id: Id('webhook'),
  event_id: Id('event'),
  event_type: OneOf(DELIVERED_EVENT_TYPES),
  attempt: Type.Integer({ minimum: 1, maximum: ATTEMPTS }),
  status: OneOf(ATTEMPT_STATUSES, {
    description: '`RETRYING`: the attempt failed and another follows. `FAILED`: the last attempt failed.',
  }),
  http_status: Nullable(Type.Integer({ minimum: 100, maximum: 999 })),
  error: Nullable(OneOf(DELIVERY_ERROR_CODES, { description: ERROR_WORDS })),
  duration_ms: Type.Integer({ minimum: 0 }),
  attempted_at: Timestamp(),
  next_attempt_at: Nullable(Timestamp()),
};

const AttemptItem = Fields(attemptFields, { $id: 'WebhookAttempt' });

const SentAttempt = Fields(
  {
    ...attemptFields,
    request_headers: Type.Object(
      {},
      {
        additionalProperties: { type: 'string' },
        description:
          'The headers as sent, except those of HTTP itself. Signatures are omitted if the endpoint was deleted or its secret was replaced since.',
      },
    ),
  },
  { $id: 'SentWebhookAttempt' },
);

const ListQuery = Fields({
  endpoint: Type.Optional(IdIn('webhook', { description: 'Only attempts to this endpoint.' })),
  event: Type.Optional(
    QuerySeveral(IdIn('event'), { description: 'Only attempts to deliver these events.' }),
  ),
  type: Type.Optional(QuerySeveral(OneOf(DELIVERED_EVENT_TYPES))),
  status: Type.Optional(QuerySeveral(OneOf(ATTEMPT_STATUSES))),
  from: Type.Optional(QueryBound('from', { description: 'Attempted at or after this time or date.' })),
  to: Type.Optional(
    QueryBound('to', { description: 'Attempted before this time, or up to the end of this date.' }),
  ),
  ...PageQuery,
});

const EventsQuery = Fields({
  after: Type.Optional(IdIn('event', { description: 'Only events that happened after this one.' })),
  ...PageQuery,
});

const EVENT_BODIES = WEBHOOK_EVENT_TYPES.map((type) => WEBHOOK_EVENTS[type].body);

export const ReplayBody = Fields(
  {
    event_id: Type.Optional(IdIn('event', { description: 'Only this event.' })),
    from: Type.Optional(QueryBound('from')),
    to: Type.Optional(QueryBound('to')),
  },
  { examples: [{ from: '2026-11-21' }] },
);

const Replayed = Fields(
  {
    queued: Type.Integer({ minimum: 0, maximum: MAX_REPLAYED }),
    next_from: Nullable(
      Timestamp({
        description: 'Set if there are more events than one replay sends: give it as `from` to continue.',
      }),
    ),
  },
  { $id: 'WebhookReplay' },
);

const IdParams = Fields({ id: Type.String() });

export const routes = {
  listEvents: route({
    method: 'GET',
    path: '/v1/events',
    operationId: 'listEvents',
    tag: 'Webhooks',
    summary: 'List events as they are delivered',
    description:
      'Oldest first, after the event given in `after`, or from the first stored one. An event is stored for 30 days if any endpoint subscribed to it when it happened. A receiver that was down gives the last event it received.',
    scopes: ['admin'],
    query: EventsQuery,
    responses: {
      200: {
        description: 'A page of events.',
        schema: page(Type.Union(EVENT_BODIES), { $id: 'EventPage' }),
      },
    },
    errors: [],
  }),
  listWebhookDeliveries: route({
    method: 'GET',
    path: '/v1/webhooks/deliveries',
    operationId: 'listWebhookDeliveries',
    tag: 'Webhooks',
    summary: 'List delivery attempts',
    description: 'One item per attempt, newest first, stored for 30 days. Filters combine with AND.',
    scopes: ['admin'],
    query: ListQuery,
    responses: {
      200: { description: 'A page of attempts.', schema: page(AttemptItem, { $id: 'WebhookAttemptPage' }) },
    },
    errors: [],
  }),
  getWebhookDelivery: route({
    method: 'GET',
    path: '/v1/webhooks/deliveries/:id',
    operationId: 'getWebhookDelivery',
    tag: 'Webhooks',
    summary: 'Get one delivery attempt',
    description:
      'With the headers as sent, for 30 days; `GET /v1/webhooks/events/:id` returns the body. The secret is never shown.',
    scopes: ['admin'],
    params: IdParams,
    responses: { 200: { description: 'The attempt.', schema: SentAttempt } },
    errors: ['not_found'],
  }),
  getWebhookEvent: route({
    method: 'GET',
    path: '/v1/webhooks/events/:id',
    operationId: 'getWebhookEvent',
    tag: 'Webhooks',
    summary: 'Get an event as it is delivered',
    description:
      'The body of its deliveries, byte for byte, for 30 days. Its signature covers the timestamp, a dot and this body.',
    scopes: ['admin'],
    params: IdParams,
    responses: {
      200: {
        description: 'The event.',
        schema: Type.Union([...EVENT_BODIES, WEBHOOK_EVENTS[TEST_EVENT_TYPE].body]),
      },
    },
    errors: ['not_found'],
  }),
  replayWebhook: route({
    method: 'POST',
    path: '/v1/webhooks/:id/replay',
    operationId: 'replayWebhook',
    tag: 'Webhooks',
    summary: 'Send events again',
    description: `Takes either \`event_id\` or a period (\`from\`, and \`to\` unless it ends now). Sends the stored events of the types that the endpoint subscribes to, with the same bytes and ids, oldest first, at most ${MAX_REPLAYED} at a time. Events are stored for 30 days if any endpoint subscribed to them when they happened.`,
    scopes: ['admin'],
    params: IdParams,
    body: ReplayBody,
    responses: { 202: { description: 'The events are queued.', schema: Replayed } },
    errors: ['not_found'],
  }),
};
