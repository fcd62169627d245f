import type { Signature } from '@purser/contract/signing/fields';
import { sha256 } from '../domain/ledger.ts';
import { isSignedBy } from './public-keys.ts';

const HASH_BYTES = 32;
const COUNTER_AT = 33;
const HEAD_BYTES = 37;
const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;

/** The key that has to have signed, and the site for which it signs. */
export interface Signer {
  /** Base64url. */
  credential_id: string;
  /** COSE, base64url. */
  public_key: string;
  rp_id: string;
  origin: string;
}

/** The challenge that a passkey signs for a statement: base64url of its SHA-256. */
export function challengeOf(statement: string): string {
  return sha256(statement).toString('base64url');
}

interface ClientData {
  type?: unknown;
  challenge?: unknown;
  origin?: unknown;
  crossOrigin?: unknown;
  topOrigin?: unknown;
}

function clientDataOf(bytes: Buffer): ClientData | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const data = JSON.parse(text) as ClientData | null;
    return typeof data === 'object' ? data : null;
  } catch {
    return null;
  }
}

function clientDataFault(data: ClientData | null, statement: string, { origin }: Signer): string | null {
  if (data === null) return 'the client data cannot be read';
  if (data.type !== 'webauthn.get') return 'the client data is not of a signature';
  if (data.challenge !== challengeOf(statement)) return 'the challenge is not the hash of the statement';
  if (data.origin !== origin) return "the origin is not the key's";
  if ((data.crossOrigin ?? false) !== false || data.topOrigin !== undefined)
    return 'it was signed inside a page of another site';
  return null;
}

/**
 * Returns why a signature is not one of this key over this statement, as WebAuthn Level 2 (7.2) asks; null: it is. The
 * statement itself is not read. The user must have been verified, not only present.
 */
export function signatureFault({ statement, response: answer }: Signature, signer: Signer): string | null {
  if (answer.id !== signer.credential_id) return 'it is of another credential';
  const { clientDataJSON, authenticatorData, signature } = answer.response;
  const client = Buffer.from(clientDataJSON, 'base64url');
  const fault = clientDataFault(clientDataOf(client), statement, signer);
  if (fault !== null) return fault;
  const data = Buffer.from(authenticatorData, 'base64url');
  if (data.length < HEAD_BYTES) return 'the authenticator data is cut off';
  if (!data.subarray(0, HASH_BYTES).equals(sha256(signer.rp_id))) return 'it was made for another site';
  const flags = data.readUInt8(HASH_BYTES);
  if ((flags & USER_PRESENT) === 0) return 'nobody was present';
  if ((flags & USER_VERIFIED) === 0) return 'the user was not verified';
  const signed = Buffer.concat([data, sha256(client)]);
  const key = Buffer.from(signer.public_key, 'base64url');
  return isSignedBy(key, signed, Buffer.from(signature, 'base64url')) ? null : 'the key did not sign it';
}

/** How often the authenticator has signed, as the signature says; authenticators that do not count say 0. */
export function counterOf({ response: { response } }: Signature): number {
  const data = Buffer.from(response.authenticatorData, 'base64url');
  return data.length < HEAD_BYTES ? 0 : data.readUInt32BE(COUNTER_AT);
}
