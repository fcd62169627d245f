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
import { type Route, serve } from '../http/route.ts';
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
  const { db, lane, cursors, newSecret, sealSecret } = options;

  function judged(url: string): string {
    const found = judgeUrl(url, options.allow_private);
    if (!found.ok) throw invalidField('url', found.problem);
    return found.url;
  }

  return [
    serve(routes.createWebhook)(async (call) => {
      const { workspace_id } = call.caller;
      const url = judged(call.body.url);
      const value = newSecret();
      const endpoint = await lane.submit(
        workspace_id,
        createWebhook,
        {
          url,
          events: call.body.events === undefined ? null : [...new Set(call.body.events)],
          sealed_secret: sealSecret(workspace_id, value),
        },
        originOf(call),
      );
      const body = { id: endpoint.endpoint_id, url, events: eventsOf(endpoint), secret: value };
      return { status: 201, body };
    }),
    serve(routes.listWebhooks, { shares: 'reads' })(async (call) => {
      const { limit = 50, cursor } = call.query;
      const { workspace_id } = call.caller;
      const list = ['listWebhooks', workspace_id];
      const after = cursors.open(list, cursor) as string | null;
      const found = await listWebhookEndpoints(db, workspace_id, { after, limit: limit + 1 });
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.endpoint_id));
      const data = rows.map((row) => ({ ...webhookBody(row), failing_since: row.failing_since }));
      return { status: 200, body: { data, next_cursor } };
    }),
    serve(routes.getWebhook, { shares: 'reads' })(async (call) => {
      const found = await getWebhookEndpoint(db, call.caller.workspace_id, call.params.id);
      if (found === undefined) throw new ApiError('not_found', NO_SUCH_WEBHOOK);
      return { status: 200, body: { ...webhookBody(found), failing_since: found.failing_since } };
    }),
    serve(routes.updateWebhook)(async (call) => {
      const { url, events, status } = call.body;
      const endpoint = await lane.submit(
        call.caller.workspace_id,
        updateWebhook,
        {
          endpoint_id: call.params.id,
          changes: {
            ...(url === undefined ? {} : { url: judged(url) }),
            ...(events === undefined ? {} : { events: [...new Set(events)] }),
            ...(status === undefined ? {} : { status }),
          },
          reason: 'REQUESTED',
        },
        originOf(call),
      );
      return { status: 200, body: webhookBody(endpoint) };
    }),
    serve(routes.deleteWebhook)(async (call) => {
      const input = { endpoint_id: call.params.id };
      await lane.submit(call.caller.workspace_id, deleteWebhook, input, originOf(call));
      return { status: 204 };
    }),
    serve(routes.rotateWebhookSecret)(async (call) => {
      const { workspace_id } = call.caller;
      const value = newSecret();
      const endpoint = await lane.submit(
        workspace_id,
        rotateWebhookSecret,
        {
          endpoint_id: call.params.id,
          sealed_secret: sealSecret(workspace_id, value),
          overlap_seconds: call.body.overlap_seconds ?? DEFAULT_OVERLAP_SECONDS,
        },
        originOf(call),
      );
      const body = {
        id: endpoint.endpoint_id,
        url: endpoint.url,
        events: eventsOf(endpoint),
        secret: value,
        previous_secrets_expire_at: endpoint.secrets[1]?.expires_at ?? null,
      };
      return { status: 200, body };
    }),
    serve(routes.testWebhook)(async (call) => {
      const endpoint_id = call.params.id;
      const { event_id } = await lane.submit(
        call.caller.workspace_id,
        testWebhook,
        { endpoint_id },
        originOf(call),
      );
      return { status: 202, body: { endpoint_id, event_id } };
    }),
  ];
}
