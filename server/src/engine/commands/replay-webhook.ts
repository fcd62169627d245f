import { type Command, done, refuse } from '../lane/command.ts';
import { NO_SUCH_WEBHOOK } from './update-webhook.ts';

export interface ReplayWebhookInput {
  endpoint_id: string;
  /** Ids of stored events, oldest first. */
  event_ids: readonly string[];
}

/** Sends stored events to an endpoint again, with the same bytes and ids. */
export const replayWebhook: Command<ReplayWebhookInput, null> = {
  name: 'replayWebhook',
  needs: () => ({ webhooks: true }),
  apply(set, { endpoint_id, event_ids }) {
    const endpoint = set.outbox.endpoint(endpoint_id);
    if (endpoint === undefined) return refuse('not_found', NO_SUCH_WEBHOOK);
    if (endpoint.status !== 'active') {
      return refuse('invalid_request', 'status: the endpoint is disabled; activate it first');
    }
    for (const event_id of event_ids) set.outbox.deliver(endpoint_id, event_id);
    return done(null);
  },
};
