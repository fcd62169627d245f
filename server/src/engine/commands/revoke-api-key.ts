import { keyStatus } from '@purser/rules/domain/keys';
import { type Command, done, refuse } from '../lane/command.ts';
import { withdrawKey } from '../lane/revocations.ts';

/** Revokes a key permanently, and the pending invitations that it made. Revoking it again changes nothing. */
export const revokeApiKey: Command<{ key_id: string }, null> = {
  name: 'revokeApiKey',
  needs: ({ key_id }) => ({ keys: [key_id], admin_keys: true, pending_invitations: true }),
  apply(set, { key_id }, origin) {
    const key = set.keys.get(key_id);
    if (key === undefined) return refuse('not_found', 'No such key.');
    if (key.revoked_at !== null) return done(null);
    if (key_id === origin.actor.key_id) {
      const others = set.keys
        .admins()
        .filter((other) => other.key_id !== key_id && keyStatus(other, set.now_ms) === 'active');
      if (others.length === 0) {
        return refuse(
          'last_admin_key',
          "This is the workspace's last active admin key; create another one first.",
        );
      }
    }
    withdrawKey(set, key, origin);
    return done(null);
  },
};
