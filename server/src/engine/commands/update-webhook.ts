import type { WebhookEventType } from '@purser/contract/values/webhooks';
import {
  type DisabledReason,
  type WebhookEndpoint,
  type WebhookStatus,
  webhookBody,
} from '@purser/rules/domain/webhooks';
import { type Command, done, refuse } from '../lane/command.ts';

export interface UpdateWebhookInput {
  endpoint_id: string;
  changes: { url?: string; events?: readonly WebhookEventType[]; status?: WebhookStatus };
  /** The reason, if this change disables the endpoint. */
  reason: DisabledReason;
}

export const NO_SUCH_WEBHOOK = 'No such webhook endpoint.';

/**
 * Changes an endpoint's URL, events or status. While an endpoint is disabled nothing is added to its queue; pending
 * deliveries continue when it is active again. Without a difference nothing is written.
 */
export const updateWebhook: Command<UpdateWebhookInput, WebhookEndpoint> = {
  name: 'updateWebhook',
  needs: () => ({ webhooks: true }),
  apply(set, input, origin) {
    const before = set.outbox.endpoint(input.endpoint_id);
    if (before === undefined) return refuse('not_found', NO_SUCH_WEBHOOK);
    const { url = before.url, events = before.events, status = before.status } = input.changes;
    const disabled_reason = before.status === 'disabled' ? before.disabled_reason : input.reason;
    const after: WebhookEndpoint = {
      ...before,
      url,
      events,
      status,
      disabled_reason: status === 'active' ? null : disabled_reason,
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
