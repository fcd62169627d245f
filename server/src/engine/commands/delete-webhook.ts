import { webhookBody } from '@purser/rules/domain/webhooks';
import { type Command, done, refuse } from '../lane/command.ts';
import { NO_SUCH_WEBHOOK } from './update-webhook.ts';

/** Deletes an endpoint, its secrets and its pending deliveries. */
export const deleteWebhook: Command<{ endpoint_id: string }, null> = {
  name: 'deleteWebhook',
  needs: () => ({ webhooks: true }),
  apply(set, { endpoint_id }, origin) {
    const endpoint = set.outbox.endpoint(endpoint_id);
    if (endpoint === undefined) return refuse('not_found', NO_SUCH_WEBHOOK);
    set.outbox.delete(endpoint_id);
    set.audit('webhook.deleted', { type: 'webhook', id: endpoint_id }, origin, {
      from: webhookBody(endpoint),
      to: Object.fromEntries(Object.keys(webhookBody(endpoint)).map((field) => [field, null])),
      state: { webhook: endpoint },
    });
    return done(null);
  },
};
