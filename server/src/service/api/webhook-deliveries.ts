import { type ReplayBody, routes } from '@purser/contract/routes/webhook-deliveries';
import { MAX_REPLAYED, WEBHOOK_EVENT_TYPES } from '@purser/contract/values/webhooks';
import { eventsOf, headersOfAttempt, type WebhookAttempt } from '@purser/rules/domain/webhooks';
import { ApiError, invalidField } from '@purser/rules/errors';
import { firstIdAt } from '@purser/rules/values/ids';
import type pg from 'pg';
import type { Static } from 'typebox';
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
import { type Handler, type Route, serve, storedJson } from '../http/route.ts';
import { originOf } from '../people/callers.ts';
import { getWebhookAttempt, listWebhookAttempts } from '../webhook-delivery/attempt-rows.ts';

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

export interface WebhookDeliveryRouteOptions {
  db: pg.Pool;
  lists_db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
  openSecret: (workspace_id: string, sealed: string) => string;
}

/** Makes the routes that list attempts and send events again. */
export function makeWebhookDeliveryRoutes(options: WebhookDeliveryRouteOptions): Route[] {
  return [
    serve(routes.listEvents, { shares: 'lists' })(handleListEvents(options)),
    serve(routes.listWebhookDeliveries, { shares: 'lists' })(handleListDeliveries(options)),
    serve(routes.getWebhookDelivery, { shares: 'reads' })(handleGetDelivery(options)),
    serve(routes.getWebhookEvent, { shares: 'reads' })(handleGetEvent(options)),
    serve(routes.replayWebhook)(handleReplay(options)),
  ];
}

function handleListEvents(options: WebhookDeliveryRouteOptions): Handler<typeof routes.listEvents> {
  const { lists_db, cursors } = options;
  return async ({ caller: { workspace_id }, query: { limit = 50, cursor, after = '' } }) => {
    const list = ['listEvents', workspace_id, after];
    const from = (cursors.open(list, cursor) as string | null) ?? after;
    const page = { after: from, types: WEBHOOK_EVENT_TYPES, limit: limit + 1 };
    const found = await listWebhookEvents(lists_db, workspace_id, page);
    const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.event_id));
    const data = rows.map(({ payload }) => payload).join(',');
    const json = `{"data":[${data}],"next_cursor":${JSON.stringify(next_cursor)}}`;
    return { status: 200, json: storedJson(json) };
  };
}

function handleListDeliveries(
  options: WebhookDeliveryRouteOptions,
): Handler<typeof routes.listWebhookDeliveries> {
  const { lists_db, cursors } = options;
  return async ({ caller: { workspace_id }, query: { limit = 50, cursor, ...filters } }) => {
    const list = ['listWebhookDeliveries', workspace_id, filters];
    const after = cursors.open(list, cursor) as string | null;
    const found = await listWebhookAttempts(lists_db, workspace_id, filters, { after, limit: limit + 1 });
    const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.attempt_id));
    return { status: 200, body: { data: rows.map(attemptBody), next_cursor } };
  };
}

function handleGetDelivery(options: WebhookDeliveryRouteOptions): Handler<typeof routes.getWebhookDelivery> {
  const { db, openSecret } = options;
  return async ({ caller: { workspace_id }, params }) => {
    const found = await getWebhookAttempt(db, workspace_id, params.id);
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
  };
}

function handleGetEvent({ db }: WebhookDeliveryRouteOptions): Handler<typeof routes.getWebhookEvent> {
  return async ({ caller, params }) => {
    const json = await getWebhookPayload(db, caller.workspace_id, params.id);
    if (json === undefined) {
      throw new ApiError('not_found', 'No such event, or it is no longer stored.');
    }
    return { status: 200, json: storedJson(json) };
  };
}

function handleReplay({ db, lane }: WebhookDeliveryRouteOptions): Handler<typeof routes.replayWebhook> {
  return async (call) => {
    const { workspace_id } = call.caller;
    const range = await rangeOf(call.body, db);
    const endpoint = (await loadWebhookEndpoints(db, workspace_id)).find(
      ({ endpoint_id }) => endpoint_id === call.params.id,
    );
    if (endpoint === undefined) throw new ApiError('not_found', NO_SUCH_WEBHOOK);
    const wanted = { ...range, types: eventsOf(endpoint), limit: MAX_REPLAYED + 1 };
    const found = await findWebhookEvents(db, workspace_id, wanted);
    if (found.length === 0 && call.body.event_id !== undefined) {
      throw new ApiError('not_found', 'No such event of a type that the endpoint subscribes to.');
    }
    const event_ids = found.slice(0, MAX_REPLAYED).map(({ event_id }) => event_id);
    const input = { endpoint_id: endpoint.endpoint_id, event_ids };
    await lane.submit(workspace_id, replayWebhook, input, originOf(call));
    const next_from = found[MAX_REPLAYED]?.created_at ?? null;
    return { status: 202, body: { queued: event_ids.length, next_from } };
  };
}

/** Returns the first and the last id of a replay's period. */
async function rangeOf(
  { event_id, from, to }: Static<typeof ReplayBody>,
  db: pg.Pool,
): Promise<{ first_id: string; end_id: string }> {
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
