import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { sha256 } from '../domain/ledger.ts';
import { type Cbor, decodeCbor } from './cbor.ts';

/** Labels of a COSE key (RFC 9052, RFC 9053, RFC 8230). */
const [KTY, ALG, CRV_OR_N, X_OR_E, Y] = [1, 3, -1, -2, -3] as const;
const [OKP, EC2, RSA] = [1, 2, 3] as const;
const [ES256, EDDSA, RS256] = [-7, -8, -257] as const;
const [P256, ED25519] = [1, 6] as const;
const COORDINATE_BYTES = 32;
const MIN_RSA_BITS = 2_048;

interface PublicKey {
  key: KeyObject;
  /** The hash that is signed; null: Ed25519 hashes by itself. */
  digest: 'sha256' | null;
}

/** The fingerprint of a public key in COSE form, by which verifiers pin it: `SHA256:` + base64 of its hash. */
export function fingerprintOf(public_key: Buffer): string {
  return `SHA256:${sha256(public_key).toString('base64')}`;
}

const base64url = (value: Cbor | undefined, length?: number): string => {
  if (!Buffer.isBuffer(value) || (length !== undefined && value.length !== length))
    throw new TypeError('A part of the key has a wrong length.');
  return value.toString('base64url');
};

/** Reads a COSE key. Throws where it is none of ES256, EdDSA (Ed25519) and RS256 of at least 2048 bits. */
function readPublicKey(cose: Buffer): PublicKey {
  const map = decodeCbor(cose);
  if (!(map instanceof Map)) throw new TypeError('A key is a map.');
  const [kty, alg] = [map.get(KTY), map.get(ALG)];
  const from = (key: Record<string, string>) => createPublicKey({ key, format: 'jwk' });
  if (kty === EC2 && alg === ES256 && map.get(CRV_OR_N) === P256) {
    const x = base64url(map.get(X_OR_E), COORDINATE_BYTES);
    const y = base64url(map.get(Y), COORDINATE_BYTES);
    return { key: from({ kty: 'EC', crv: 'P-256', x, y }), digest: 'sha256' };
  }
  if (kty === OKP && alg === EDDSA && map.get(CRV_OR_N) === ED25519) {
    const x = base64url(map.get(X_OR_E), COORDINATE_BYTES);
    return { key: from({ kty: 'OKP', crv: 'Ed25519', x }), digest: null };
  }
  if (kty === RSA && alg === RS256) {
    const key = from({ kty: 'RSA', n: base64url(map.get(CRV_OR_N)), e: base64url(map.get(X_OR_E)) });
    if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_RSA_BITS)
      throw new TypeError('The key is short.');
    return { key, digest: 'sha256' };
  }
  throw new TypeError('The algorithm is none of ES256, EdDSA and RS256.');
}

/** Returns whether a public key in COSE form signed the bytes; false for a key or signature that cannot be read. */
export function isSignedBy(public_key: Buffer, bytes: Buffer, signature: Buffer): boolean {
  try {
    const { key, digest } = readPublicKey(public_key);
    return verify(digest, bytes, key, signature);
  } catch {
    return false;
  }
}

/** Returns whether a public key is of a kind that can sign approvals. */
export function isSigningKey(public_key: Buffer): boolean {
  try {
    readPublicKey(public_key);
    return true;
  } catch {
    return false;
  }
}
