import { fingerprintOf } from './public-keys.ts';
import type { SigningKeyRow } from './records/signing-key.ts';

/** The fingerprint of a key's public key. */
export function fingerprintOfKey({ public_key }: Pick<SigningKeyRow, 'public_key'>): string {
  return fingerprintOf(Buffer.from(public_key, 'base64url'));
}

/** Returns the keys that belong to one chain of trust now: those made since the last reset. */
export function hasRoot(keys: readonly SigningKeyRow[]): boolean {
  return keys.some(({ is_root, reset_at }) => is_root && reset_at === null);
}

/** A signing key as the API answers it. */
export function signingKeyBody(key: SigningKeyRow) {
  const { signing_key_id: id, name, principal_id, credential_id, public_key, rp_id, origin } = key;
  const { status, endorsed_by, created_at, revoked_at } = key;
  const fingerprint = fingerprintOfKey(key);
  return {
    id,
    name,
    principal_id,
    credential_id,
    public_key,
    rp_id,
    origin,
    fingerprint,
    status,
    endorsed_by,
    created_at,
    revoked_at,
  };
}
