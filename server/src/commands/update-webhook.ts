import {
  type DisabledReason,
  type WebhookEndpoint,
  type WebhookEventType,
  type WebhookStatus,
  webhookBody,
} from '../domain/webhooks.ts';
import { type Command, done, refuse } from '../lane/command.ts';

export interface UpdateWebhookInput {
  endpoint_id: string;
  changes: { url?: string; events?: readonly WebhookEventType[]; status?: WebhookStatus };
  /** Why, where it is disabled by this. */
  reason: DisabledReason;
}

export const NO_SUCH_WEBHOOK = 'There is no such webhook endpoint.';

/**
 * Changes an endpoint's URL, events or status. While it is disabled nothing is put into its queue; what waits
 * there goes on when it is active again. Nothing to change writes nothing.
 */
export const updateWebhook: Command<UpdateWebhookInput, WebhookEndpoint> = {
  name: 'updateWebhook',
  needs: () => ({ webhooks: true }),
  apply(set, input, origin) {
    const before = set.outbox.endpoint(input.endpoint_id);
    if (before === undefined) return refuse('not_found', NO_SUCH_WEBHOOK);
    const { url = before.url, events = before.events, status = before.status } = input.changes;
    const kept_reason = before.status === 'disabled' ? before.disabled_reason : input.reason;
    const after: WebhookEndpoint = {
      ...before,
      url,
      events,
      status,
      disabled_reason: status === 'active' ? null : kept_reason,
      updated_at: set.now,
    };
    const same = url === before.url && status === before.status && events.join() === before.events.join();
    if (same) return done(before);
    set.outbox.put(after);
    set.audit('webhook.updated', { type: 'webhook', id: after.endpoint_id }, origin, {
      from: webhookBody(before),
      to: webhookBody(after),
      state: { webhook: after },
    });
    return done(after);
  },
};
