import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
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
  counter?: number;
  user_handle?: string;
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();

/** A passkey in software, as WebAuthn describes one: an ES256 key that signs what a site asks it to. */
export function makeAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credential_id = randomBytes(32);
  const id = credential_id.toString('base64url');
  let counter = 0;
  let user_handle = '';

  function authData(forgery: Forgery, credential: Buffer, flags: number): Buffer {
    const head = Buffer.alloc(5);
    head[0] = flags | USER_PRESENT | (forgery.is_unverified === true ? 0 : USER_VERIFIED);
    counter += 1;
    head.writeUInt32BE(forgery.counter ?? counter, 1);
    return Buffer.concat([sha256(forgery.rp_id ?? new URL(origin).hostname), head, credential]);
  }

  const clientData = (type: string, challenge: string, forgery: Forgery) =>
    Buffer.from(
      JSON.stringify({
        type,
        challenge: forgery.challenge ?? challenge,
        origin: forgery.origin ?? origin,
        crossOrigin: false,
      }),
    );

  return {
    id,
    /** Answers what `register/options` gave. */
    create(options: { challenge: string; user: { id: string } }, forgery: Forgery = {}) {
      user_handle = options.user.id;
      const { x, y } = publicKey.export({ format: 'jwk' });
      const coordinate = (text: string | undefined) =>
        new Uint8Array(Buffer.from(text as string, 'base64url'));
      const cose = isoCBOR.encode(
        new Map<number, number | Uint8Array>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, coordinate(x)],
          [-3, coordinate(y)],
        ]),
      );
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
      const signature = createSign('SHA256')
        .update(Buffer.concat([data, sha256(client)]))
        .sign(privateKey, 'base64url');
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
