import type { Origin } from '@purser/rules/domain/audit';
import { type ApiKey, type KeyBounds, keyBody } from '@purser/rules/domain/keys';
import { boundsOf } from '../../allowances/bound-keys.ts';
import { creatorOf } from '../../lane/principals.ts';
import type { WorkingSet } from '../../lane/working-set.ts';

/** The value of a new key as it is stored. */
export interface NewKeyValue {
  digest: Buffer;
  /** The id of the secret key that the digest was computed with. */
  secret_id: string;
  hint: string;
}

/** A new key, with the state of what it is bound to. */
export type NewKey = ApiKey & KeyBounds;

type AddedKey = NewKeyValue &
  Pick<ApiKey, 'name' | 'kind' | 'scopes' | 'agent_id' | 'principal_id' | 'allowance_path'> & {
    expires_in_seconds: number | null;
  };

/**
 * Adds a key and records it. A bound key ends with all that its maker is bound to, and with its maker where that is an agent
 * key. The command must need the actor's principal.
 */
export function addKey(set: WorkingSet, added: AddedKey, origin: Origin): NewKey {
  const { secret_id, expires_in_seconds, ...given } = added;
  const maker = creatorOf(set, origin);
  const making = maker.key_id === null ? undefined : set.keys.get(maker.key_id);
  const is_by_agent = making?.kind === 'agent';
  const key: ApiKey = {
    key_id: set.newId('api_key'),
    ...given,
    created_at: set.now,
    expires_at:
      expires_in_seconds === null ? null : new Date(set.now_ms + expires_in_seconds * 1000).toISOString(),
    revoked_at: null,
    made_by_key_id: maker.key_id,
    made_by_principal_id: maker.principal_id,
    made_by_person: maker.person,
    maker_key_ids: is_by_agent ? [making.key_id, ...making.maker_key_ids] : [],
  };
  const made = { ...key, ...boundsOf(set, key) };
  set.keys.add(key, secret_id);
  set.audit('api_key.created', { type: 'api_key', id: key.key_id }, origin, {
    from: null,
    to: keyBody(made),
    state: { api_key: key },
  });
  return made;
}
