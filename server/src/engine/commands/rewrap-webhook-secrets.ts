import { type Command, done } from '../lane/command.ts';

export interface RewrapWebhookSecretsInput {
  endpoint_id: string;
  /** The newly sealed secrets by their previous sealed form. */
  sealed: ReadonlyMap<string, string>;
}

/** Stores an endpoint's secrets sealed with the current secret key; the secrets stay the same. Returns their number. */
export const rewrapWebhookSecrets: Command<RewrapWebhookSecretsInput, number> = {
  name: 'rewrapWebhookSecrets',
  needs: () => ({ webhooks: true }),
  apply(set, { endpoint_id, sealed }, origin) {
    const before = set.outbox.endpoint(endpoint_id);
    const count = before?.secrets.filter((secret) => sealed.has(secret.sealed)).length ?? 0;
    if (before === undefined || count === 0) return done(0);
    const secrets = before.secrets.map((secret) => ({
      ...secret,
      sealed: sealed.get(secret.sealed) ?? secret.sealed,
    }));
    const after = { ...before, secrets };
    set.outbox.put(after);
    set.audit('webhook.secret_rewrapped', { type: 'webhook', id: endpoint_id }, origin, {
      from: {},
      to: {},
      state: { webhook: after },
    });
    return done(count);
  },
};
