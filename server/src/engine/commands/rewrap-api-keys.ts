import { type Command, done } from '../lane/command.ts';

/** A key that was used, the digest that it was found by, and the digest computed with the current secret key. */
export interface RewrappedApiKey {
  key_id: string;
  from: { digest: Buffer; secret_id: string };
  to: { digest: Buffer; secret_id: string };
}

/** Replaces the digests of keys by those of the current secret key. Keys that changed meanwhile are skipped. */
export const rewrapApiKeys: Command<readonly RewrappedApiKey[], null> = {
  name: 'rewrapApiKeys',
  needs: (keys) => ({ keys: keys.map(({ key_id }) => key_id) }),
  apply(set, keys, origin) {
    for (const { key_id, from, to } of keys) {
      const before = set.keys.get(key_id);
      if (before === undefined || before.revoked_at !== null || !before.digest.equals(from.digest)) continue;
      const after = set.keys.rewrap(before, to);
      set.audit('api_key.rewrapped', { type: 'api_key', id: key_id }, origin, {
        from: {},
        to: {},
        state: { api_key: after },
      });
    }
    return done(null);
  },
};
