import { TEST_EVENT_TYPE } from '@purser/contract/values/webhooks';
import { type Command, done, refuse } from '../lane/command.ts';
import { NO_SUCH_WEBHOOK } from './update-webhook.ts';

/** Sends a `webhook.test` event to one endpoint, signed and retried like every other. */
export const testWebhook: Command<{ endpoint_id: string }, { event_id: string }> = {
  name: 'testWebhook',
  needs: () => ({ webhooks: true }),
  apply(set, { endpoint_id }) {
    const endpoint = set.outbox.endpoint(endpoint_id);
    if (endpoint === undefined) return refuse('not_found', NO_SUCH_WEBHOOK);
    if (endpoint.status !== 'active') {
      return refuse('invalid_request', 'status: the endpoint is disabled; activate it first');
    }
    const event_id = set.newId('event');
    set.outbox.addEvent(event_id, TEST_EVENT_TYPE, JSON.stringify({ endpoint_id }));
    set.outbox.deliver(endpoint_id, event_id);
    return done({ event_id });
  },
};
