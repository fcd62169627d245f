import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/** What an attack changes about an answer. */
export interface Forgery {
  origin?: string;
  rp_id?: string;
  challenge?: string;
  /** The person was there, and did not unlock the device. */
  is_unverified?: true;
  is_absent?: true;
  /** In place of `webauthn.get` or `webauthn.create`. */
  type?: string;
  is_cross_origin?: true;
  counter?: number;
  user_handle?: string;
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();

export type Algorithm = 'ES256' | 'EdDSA' | 'RS256';
type Cose = Map<number, number | Uint8Array>;

function makeKeys(algorithm: Algorithm): { privateKey: KeyObject; publicKey: KeyObject } {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: 2_048 });
}

function coseOf(algorithm: Algorithm, publicKey: KeyObject): Uint8Array {
  const { x, y, n, e } = publicKey.export({ format: 'jwk' });
  const bytes = (text: string | undefined) => new Uint8Array(Buffer.from(text as string, 'base64url'));
  const fields: Record<Algorithm, () => [number, number | Uint8Array][]> = {
    ES256: () => [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ],
    EdDSA: () => [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, bytes(x)],
    ],
    RS256: () => [
      [1, 3],
      [3, -257],
      [-1, bytes(n)],
      [-2, bytes(e)],
    ],
  };
  return isoCBOR.encode(new Map(fields[algorithm]()) as Cose);
}

/** A passkey in software, as WebAuthn describes one: a key that signs what a site asks it to. */
export function makeAuthenticator(origin: string, algorithm: Algorithm = 'ES256') {
  const { privateKey, publicKey } = makeKeys(algorithm);
  const credential_id = randomBytes(32);
  const id = credential_id.toString('base64url');
  let counter = 0;
  let user_handle = '';

  function authData(forgery: Forgery, credential: Buffer, flags: number): Buffer {
    const head = Buffer.alloc(5);
    head[0] =
      flags |
      (forgery.is_absent === true ? 0 : USER_PRESENT) |
      (forgery.is_unverified === true ? 0 : USER_VERIFIED);
    counter += 1;
    head.writeUInt32BE(forgery.counter ?? counter, 1);
    return Buffer.concat([sha256(forgery.rp_id ?? new URL(origin).hostname), head, credential]);
  }

  const clientData = (type: string, challenge: string, forgery: Forgery) =>
    Buffer.from(
      JSON.stringify({
        type: forgery.type ?? type,
        challenge: forgery.challenge ?? challenge,
        origin: forgery.origin ?? origin,
        crossOrigin: forgery.is_cross_origin === true,
      }),
    );

  return {
    id,
    cose: coseOf(algorithm, publicKey),
    /** Answers what `register/options` gave. */
    create(options: { challenge: string; user: { id: string } }, forgery: Forgery = {}) {
      user_handle = options.user.id;
      const cose = coseOf(algorithm, publicKey);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credential_id.length);
      const credential = Buffer.concat([Buffer.alloc(16), length, credential_id, cose]);
      const attestation = isoCBOR.encode(
        new Map<string, string | Map<string, string> | Uint8Array>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', new Uint8Array(authData(forgery, credential, HAS_CREDENTIAL))],
        ]),
      );
      return {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData('webauthn.create', options.challenge, forgery).toString('base64url'),
          attestationObject: Buffer.from(attestation).toString('base64url'),
          transports: ['internal'],
        },
      };
    },
    /** Answers what `options` gave. */
    get(options: { challenge: string }, forgery: Forgery = {}) {
      const data = authData(forgery, Buffer.alloc(0), 0);
      const client = clientData('webauthn.get', options.challenge, forgery);
      const digest = algorithm === 'EdDSA' ? null : 'sha256';
      const bytes = Buffer.concat([data, sha256(client)]);
      const signature = sign(digest, bytes, privateKey).toString('base64url');
      return {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature,
          userHandle: forgery.user_handle ?? user_handle,
        },
      };
    },
  };
}
