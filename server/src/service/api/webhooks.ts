import { DEFAULT_OVERLAP_SECONDS, routes } from '@purser/contract/routes/webhooks';
import { eventsOf, webhookBody } from '@purser/rules/domain/webhooks';
import { ApiError, invalidField } from '@purser/rules/errors';
import type pg from 'pg';
import { createWebhook } from '../../engine/commands/create-webhook.ts';
import { deleteWebhook } from '../../engine/commands/delete-webhook.ts';
import { rotateWebhookSecret } from '../../engine/commands/rotate-webhook-secret.ts';
import { testWebhook } from '../../engine/commands/test-webhook.ts';
import { NO_SUCH_WEBHOOK, updateWebhook } from '../../engine/commands/update-webhook.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { getWebhookEndpoint, listWebhookEndpoints } from '../../engine/storage/webhooks.ts';
import { type Cursors, pageOf } from '../http/cursors.ts';
import { type Handler, type Route, serve } from '../http/route.ts';
import { originOf } from '../people/callers.ts';
import { judgeUrl } from '../webhook-delivery/urls.ts';

export interface WebhookRouteOptions {
  db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
  /** True if endpoints may be `http://` and on loopback or private networks. */
  allow_private: boolean;
  newSecret: () => string;
  /** Encrypts a secret for its workspace. Each call gives another text. */
  sealSecret: (workspace_id: string, secret: string) => string;
}

/** Makes the routes for webhook endpoints. */
export function makeWebhookRoutes(options: WebhookRouteOptions): Route[] {
  return [
    serve(routes.createWebhook)(handleCreate(options)),
    serve(routes.listWebhooks, { shares: 'reads' })(handleList(options)),
    serve(routes.getWebhook, { shares: 'reads' })(handleGet(options)),
    serve(routes.updateWebhook)(handleUpdate(options)),
    serve(routes.deleteWebhook)(handleDelete(options)),
    serve(routes.rotateWebhookSecret)(handleRotateSecret(options)),
    serve(routes.testWebhook)(handleTest(options)),
  ];
}

/** Returns the URL in its normal form. Throws `invalid_request` for one that is not allowed. */
function judged(url: string, { allow_private }: WebhookRouteOptions): string {
  const found = judgeUrl(url, allow_private);
  if (!found.ok) throw invalidField('url', found.problem);
  return found.url;
}

function handleCreate(options: WebhookRouteOptions): Handler<typeof routes.createWebhook> {
  const { lane, newSecret, sealSecret } = options;
  return async (call) => {
    const { workspace_id } = call.caller;
    const { events } = call.body;
    const url = judged(call.body.url, options);
    const secret = newSecret();
    const input = {
      url,
      events: events === undefined ? null : [...new Set(events)],
      sealed_secret: sealSecret(workspace_id, secret),
    };
    const endpoint = await lane.submit(workspace_id, createWebhook, input, originOf(call));
    return { status: 201, body: { id: endpoint.endpoint_id, url, events: eventsOf(endpoint), secret } };
  };
}

function handleList({ db, cursors }: WebhookRouteOptions): Handler<typeof routes.listWebhooks> {
  return async ({ caller: { workspace_id }, query: { limit = 50, cursor } }) => {
    const list = ['listWebhooks', workspace_id];
    const after = cursors.open(list, cursor) as string | null;
    const found = await listWebhookEndpoints(db, workspace_id, { after, limit: limit + 1 });
    const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.endpoint_id));
    const data = rows.map((row) => ({ ...webhookBody(row), failing_since: row.failing_since }));
    return { status: 200, body: { data, next_cursor } };
  };
}

function handleGet({ db }: WebhookRouteOptions): Handler<typeof routes.getWebhook> {
  return async ({ caller, params }) => {
    const found = await getWebhookEndpoint(db, caller.workspace_id, params.id);
    if (found === undefined) throw new ApiError('not_found', NO_SUCH_WEBHOOK);
    return { status: 200, body: { ...webhookBody(found), failing_since: found.failing_since } };
  };
}

function handleUpdate(options: WebhookRouteOptions): Handler<typeof routes.updateWebhook> {
  return async (call) => {
    const { url, events, status } = call.body;
    const changes = {
      ...(url === undefined ? {} : { url: judged(url, options) }),
      ...(events === undefined ? {} : { events: [...new Set(events)] }),
      ...(status === undefined ? {} : { status }),
    };
    const endpoint = await options.lane.submit(
      call.caller.workspace_id,
      updateWebhook,
      { endpoint_id: call.params.id, changes, reason: 'REQUESTED' },
      originOf(call),
    );
    return { status: 200, body: webhookBody(endpoint) };
  };
}

function handleDelete({ lane }: WebhookRouteOptions): Handler<typeof routes.deleteWebhook> {
  return async (call) => {
    const input = { endpoint_id: call.params.id };
    await lane.submit(call.caller.workspace_id, deleteWebhook, input, originOf(call));
    return { status: 204 };
  };
}

function handleRotateSecret(options: WebhookRouteOptions): Handler<typeof routes.rotateWebhookSecret> {
  const { lane, newSecret, sealSecret } = options;
  return async (call) => {
    const { workspace_id } = call.caller;
    const secret = newSecret();
    const input = {
      endpoint_id: call.params.id,
      sealed_secret: sealSecret(workspace_id, secret),
      overlap_seconds: call.body.overlap_seconds ?? DEFAULT_OVERLAP_SECONDS,
    };
    const endpoint = await lane.submit(workspace_id, rotateWebhookSecret, input, originOf(call));
    const body = {
      id: endpoint.endpoint_id,
      url: endpoint.url,
      events: eventsOf(endpoint),
      secret,
      previous_secrets_expire_at: endpoint.secrets[1]?.expires_at ?? null,
    };
    return { status: 200, body };
  };
}

function handleTest({ lane }: WebhookRouteOptions): Handler<typeof routes.testWebhook> {
  return async (call) => {
    const endpoint_id = call.params.id;
    const { workspace_id } = call.caller;
    const { event_id } = await lane.submit(workspace_id, testWebhook, { endpoint_id }, originOf(call));
    return { status: 202, body: { endpoint_id, event_id } };
  };
}
