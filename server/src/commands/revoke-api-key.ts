import { keyStatus } from '../domain/keys.ts';
import { type Command, done, refuse } from '../lane/command.ts';

/** Revokes a key permanently. Revoking it again changes nothing. */
export const revokeApiKey: Command<{ key_id: string }, null> = {
  name: 'revokeApiKey',
  needs: ({ key_id }) => ({ keys: [key_id], admin_keys: true }),
  apply(set, { key_id }, origin) {
    const key = set.keys.get(key_id);
    if (key === undefined) return refuse('not_found', 'There is no such key.');
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
    const revoked = { ...key, revoked_at: set.now };
    set.keys.put(revoked);
    set.audit('api_key.revoked', { type: 'api_key', id: key_id }, origin, {
      from: { revoked_at: null },
      to: { revoked_at: set.now },
      state: { api_key: revoked },
    });
    return done(null);
  },
};
