import { route } from '@purser/contract/route';
import {
  ATTEMPT_STATUSES,
  ATTEMPTS,
  DELIVERED_EVENT_TYPES,
  DELIVERY_ERROR_CODES,
  DELIVERY_ERRORS,
  eventsOf,
  headersOfAttempt,
  MAX_REPLAYED,
  TEST_EVENT_TYPE,
  WEBHOOK_EVENT_TYPES,
  type WebhookAttempt,
} from '@purser/rules/domain/webhooks';
import { ApiError, invalidField } from '@purser/rules/errors';
import { firstIdAt } from '@purser/rules/values/ids';
import type pg from 'pg';
import Type, { type Static } from 'typebox';
import { replayWebhook } from '../../engine/commands/replay-webhook.ts';
import { NO_SUCH_WEBHOOK } from '../../engine/commands/update-webhook.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import {
  findWebhookEvents,
  getWebhookPayload,
  listWebhookEvents,
  loadWebhookEndpoints,
} from '../../engine/storage/webhooks.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import { type Cursors, pageOf } from '../http/cursors.ts';
import { type Route, serve, storedJson } from '../http/route.ts';
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
} from '../http/schemas.ts';
import { originOf } from '../people/callers.ts';
import { getWebhookAttempt, listWebhookAttempts } from '../webhook-delivery/attempt-rows.ts';
import { WEBHOOK_EVENTS } from './schemas/webhook-events.ts';

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

const ReplayBody = Fields(
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

function attemptBody({ attempt_id, ...rest }: WebhookAttempt) {
  const { endpoint_id, event_id, event_type, attempt, status, http_status, error, duration_ms } = rest;
  const { attempted_at, next_attempt_at } = rest;
  return {
    id: attempt_id,
    endpoint_id,
    event_id,
    event_type,
    attempt,
    status,
    http_status,
    error,
    duration_ms,
    attempted_at,
    next_attempt_at,
  };
}

const routes = {
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

/** Makes the routes that list attempts and send events again. */
export function makeWebhookDeliveryRoutes(options: {
  db: pg.Pool;
  lists_db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
  openSecret: (workspace_id: string, sealed: string) => string;
}): Route[] {
  const { db, lists_db, lane, cursors, openSecret } = options;

  /** Returns the first and the last id of a replay's period. */
  async function rangeOf(body: Static<typeof ReplayBody>): Promise<{ first_id: string; end_id: string }> {
    const { event_id, from, to } = body;
    if (event_id !== undefined) {
      if (from !== undefined) throw invalidField('from', 'must be omitted when event_id is given');
      if (to !== undefined) throw invalidField('to', 'must be omitted when event_id is given');
      return { first_id: event_id, end_id: `${event_id}0` };
    }
    if (from === undefined) throw invalidField('from', 'is required unless event_id is given');
    const end_ms = to === undefined ? (await readClock(db)) + 1 : Date.parse(to);
    if (end_ms <= Date.parse(from)) throw invalidField('to', 'must be later than from');
    return { first_id: firstIdAt('event', Date.parse(from)), end_id: firstIdAt('event', end_ms) };
  }

  return [
    serve(routes.listEvents, { shares: 'lists' })(async (call) => {
      const { limit = 50, cursor, after = '' } = call.query;
      const { workspace_id } = call.caller;
      const list = ['listEvents', workspace_id, after];
      const from = (cursors.open(list, cursor) as string | null) ?? after;
      const found = await listWebhookEvents(lists_db, workspace_id, {
        after: from,
        types: WEBHOOK_EVENT_TYPES,
        limit: limit + 1,
      });
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.event_id));
      const data = rows.map(({ payload }) => payload).join(',');
      return {
        status: 200,
        json: storedJson(`{"data":[${data}],"next_cursor":${JSON.stringify(next_cursor)}}`),
      };
    }),
    serve(routes.listWebhookDeliveries, { shares: 'lists' })(async (call) => {
      const { limit = 50, cursor, ...filters } = call.query;
      const { workspace_id } = call.caller;
      const list = ['listWebhookDeliveries', workspace_id, filters];
      const after = cursors.open(list, cursor) as string | null;
      const found = await listWebhookAttempts(lists_db, workspace_id, filters, { after, limit: limit + 1 });
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.attempt_id));
      return { status: 200, body: { data: rows.map(attemptBody), next_cursor } };
    }),
    serve(routes.getWebhookDelivery, { shares: 'reads' })(async (call) => {
      const { workspace_id } = call.caller;
      const found = await getWebhookAttempt(db, workspace_id, call.params.id);
      if (found === undefined) {
        throw new ApiError('not_found', 'No such attempt, or it is no longer stored.');
      }
      const { endpoint_id, event_id, event_type: type, attempted_at } = found;
      const [endpoints, payload] = await Promise.all([
        loadWebhookEndpoints(db, workspace_id),
        getWebhookPayload(db, workspace_id, event_id),
      ]);
      const request_headers = headersOfAttempt(
        { event_id, type, payload: payload ?? '' },
        // Without its body an attempt has no signature that could be made again.
        payload === undefined ? undefined : endpoints.find((each) => each.endpoint_id === endpoint_id),
        Date.parse(attempted_at),
        (sealed) => openSecret(workspace_id, sealed),
      );
      return { status: 200, body: { ...attemptBody(found), request_headers } };
    }),
    serve(routes.getWebhookEvent, { shares: 'reads' })(async (call) => {
      const json = await getWebhookPayload(db, call.caller.workspace_id, call.params.id);
      if (json === undefined) {
        throw new ApiError('not_found', 'No such event, or it is no longer stored.');
      }
      return { status: 200, json: storedJson(json) };
    }),
    serve(routes.replayWebhook)(async (call) => {
      const { workspace_id } = call.caller;
      const range = await rangeOf(call.body);
      const endpoint = (await loadWebhookEndpoints(db, workspace_id)).find(
        ({ endpoint_id }) => endpoint_id === call.params.id,
      );
      if (endpoint === undefined) throw new ApiError('not_found', NO_SUCH_WEBHOOK);
      const found = await findWebhookEvents(db, workspace_id, {
        ...range,
        types: eventsOf(endpoint),
        limit: MAX_REPLAYED + 1,
      });
      if (found.length === 0 && call.body.event_id !== undefined) {
        throw new ApiError('not_found', 'No such event of a type that the endpoint subscribes to.');
      }
      const event_ids = found.slice(0, MAX_REPLAYED).map(({ event_id }) => event_id);
      const input = { endpoint_id: endpoint.endpoint_id, event_ids };
      await lane.submit(workspace_id, replayWebhook, input, originOf(call));
      const next_from = found[MAX_REPLAYED]?.created_at ?? null;
      return { status: 202, body: { queued: event_ids.length, next_from } };
    }),
  ];
}
