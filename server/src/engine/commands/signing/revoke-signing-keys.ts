import type { Origin } from '@purser/rules/domain/audit';
import type { SigningKeyRow } from '@purser/rules/signing/records/signing-key';
import { type Command, done, refuse } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import { auditedKey } from './enrol-signing-key.ts';

function change(set: WorkingSet, before: SigningKeyRow, after: SigningKeyRow, origin: Origin): void {
  set.signing_keys.put(after);
  const shown = (key: SigningKeyRow) => ({
    ...auditedKey(key),
    revoked_at: key.revoked_at,
    reset_at: key.reset_at,
  });
  set.audit('signing_key.revoked', { type: 'signing_key', id: after.signing_key_id }, origin, {
    from: shown(before),
    to: shown(after),
    state: { signing_key: after },
  });
}

const revoked = (set: WorkingSet, key: SigningKeyRow): SigningKeyRow => ({
  ...key,
  status: 'REVOKED',
  revoked_at: key.revoked_at ?? set.now,
});

/** Revokes a person's signing keys, which stop with their membership. The command must need `signing_keys`. */
export function revokeSigningKeysOf(set: WorkingSet, user_id: string, origin: Origin): void {
  for (const key of set.signing_keys.all()) {
    if (key.user_id === user_id && key.status !== 'REVOKED') change(set, key, revoked(set, key), origin);
  }
}

/** Revokes a signing key, for its owner or an administrator. Revoking it again changes nothing. */
export const revokeSigningKey: Command<{ signing_key_id: string; user_id: string }, null> = {
  name: 'revokeSigningKey',
  needs: ({ user_id }) => ({ signing_keys: true, members: [user_id] }),
  apply(set, { signing_key_id, user_id }, origin) {
    const key = set.signing_keys.find(signing_key_id);
    const member = set.people.member(user_id);
    if (key === undefined || member === undefined) return refuse('not_found', 'No such signing key.');
    if (key.user_id !== user_id && member.role !== 'admin')
      return refuse('insufficient_scope', "Only an administrator can revoke another person's signing key.");
    if (key.status !== 'REVOKED') change(set, key, revoked(set, key), origin);
    return done(null);
  },
};

/**
 * Revokes all signing keys of a workspace and ends their root, so that an administrator may enrol another one. Returns
 * the number of keys that it revoked.
 */
export const resetSigningKeys: Command<object, number> = {
  name: 'resetSigningKeys',
  needs: () => ({ signing_keys: true, workspace: true }),
  apply(set, _input, origin) {
    if (set.workspace() === undefined) return refuse('not_found', 'No such workspace.');
    let count = 0;
    for (const key of set.signing_keys.all()) {
      const is_root = key.is_root && key.reset_at === null;
      if (key.status === 'REVOKED' && !is_root) continue;
      if (key.status !== 'REVOKED') count += 1;
      change(set, key, { ...revoked(set, key), reset_at: is_root ? set.now : key.reset_at }, origin);
    }
    return done(count);
  },
};
