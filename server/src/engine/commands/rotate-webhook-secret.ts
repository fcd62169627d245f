import { MAX_SECRETS, validSecrets, type WebhookEndpoint } from '@purser/rules/domain/webhooks';
import { type Command, done, refuse } from '../lane/command.ts';
import { NO_SUCH_WEBHOOK } from './update-webhook.ts';

export interface RotateWebhookSecretInput {
  endpoint_id: string;
  sealed_secret: string;
  /** How long the earlier secrets continue to sign beside the new one. */
  overlap_seconds: number;
}

/** Gives an endpoint a new secret. */
export const rotateWebhookSecret: Command<RotateWebhookSecretInput, WebhookEndpoint> = {
  name: 'rotateWebhookSecret',
  needs: () => ({ webhooks: true }),
  apply(set, input, origin) {
    const before = set.outbox.endpoint(input.endpoint_id);
    if (before === undefined) return refuse('not_found', NO_SUCH_WEBHOOK);
    const overlap_ends = new Date(set.now_ms + input.overlap_seconds * 1000).toISOString();
    const earlier = validSecrets(before.secrets, set.now_ms).map(({ sealed, expires_at }) => ({
      sealed,
      expires_at: expires_at === null || expires_at > overlap_ends ? overlap_ends : expires_at,
    }));
    const secrets = [
      { sealed: input.sealed_secret, expires_at: null },
      ...validSecrets(earlier, set.now_ms),
    ].slice(0, MAX_SECRETS);
    const after: WebhookEndpoint = { ...before, secrets, secret_rotated_at: set.now, updated_at: set.now };
    set.outbox.put(after);
    set.audit('webhook.secret_rotated', { type: 'webhook', id: after.endpoint_id }, origin, {
      from: { secret_rotated_at: before.secret_rotated_at },
      to: { secret_rotated_at: set.now },
      state: { webhook: after },
    });
    return done(after);
  },
};
