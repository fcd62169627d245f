import { MAX_WEBHOOKS, type WebhookEventType } from '@purser/contract/values/webhooks';
import { DEFAULT_EVENTS, type WebhookEndpoint, webhookBody } from '@purser/rules/domain/webhooks';
import { mayUseWebhooks } from '@purser/rules/domain/workspace';
import { type Command, done, refuse } from '../lane/command.ts';

export interface CreateWebhookInput {
  /** Has been checked already. */
  url: string;
  /** Null: DEFAULT_EVENT_TYPES. */
  events: readonly WebhookEventType[] | null;
  /** The secret, encrypted. */
  sealed_secret: string;
}

/** Creates an endpoint. It receives the events from then on. */
export const createWebhook: Command<CreateWebhookInput, WebhookEndpoint> = {
  name: 'createWebhook',
  needs: () => ({ workspace: true, webhooks: true }),
  apply(set, input, origin) {
    const workspace = set.workspace();
    if (workspace === undefined) return refuse('not_found', 'No such workspace.');
    if (!mayUseWebhooks(workspace, set.now_ms)) {
      return refuse('plan_required', 'Webhooks need the Team plan or a trial of it.');
    }
    if (set.outbox.endpointCount() >= MAX_WEBHOOKS) {
      return refuse(
        'webhook_limit',
        `The workspace has reached its limit of ${MAX_WEBHOOKS} webhook endpoints.`,
      );
    }
    const endpoint: WebhookEndpoint = {
      endpoint_id: set.newId('webhook'),
      url: input.url,
      events: input.events ?? [DEFAULT_EVENTS],
      status: 'active',
      disabled_reason: null,
      secrets: [{ sealed: input.sealed_secret, expires_at: null }],
      secret_rotated_at: null,
      created_at: set.now,
      updated_at: set.now,
    };
    set.outbox.put(endpoint);
    set.audit('webhook.created', { type: 'webhook', id: endpoint.endpoint_id }, origin, {
      from: null,
      to: webhookBody(endpoint),
      state: { webhook: endpoint },
    });
    return done(endpoint);
  },
};
