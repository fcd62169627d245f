import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  sign,
  timingSafeEqual,
} from 'node:crypto';
import { crc32 } from 'node:zlib';
import { makeVerifyingKey, type SigningKey } from './domain/checkpoints.ts';

/** Makes and proves the tokens of capabilities: nothing in the database can make one. */
export interface CapabilityTokens {
  of(workspace_id: string, capability_id: string): string;
  /** The capability that a token is for; null when it is not ours, or not exactly as it was given out. */
  open(workspace_id: string, token: string): string | null;
}

/** What is derived from `SECRET_KEY`. None of it is ever in the database. */
export interface Secrets {
  /** HMAC-SHA256 of an API key's value: what the database knows of it. */
  keyDigest: (key: string) => Buffer;
  /** HMAC-SHA256 that marks a list's cursor as our own. */
  cursorMac: (text: string) => Buffer;
  /**
   * Encrypts a webhook secret for its workspace: AES-256-GCM, base64. `nonce`: 12 random bytes, never used before.
   */
  sealWebhookSecret: (workspace_id: string, secret: string, nonce: Buffer) => string;
  /** The secret again. Throws when it was altered, belongs to another workspace or was made under another key. */
  openWebhookSecret: (workspace_id: string, sealed: string) => string;
  capabilityTokens: CapabilityTokens;
  /** What a database keeps to tell one SECRET_KEY from another; 32 bytes from which nothing else follows. */
  installationCheck: Buffer;
  /** Ed25519, for checkpoints of the ledger. Its public half is published. */
  checkpointKey: SigningKey;
}

/** Tokens `<capability_id>.<HMAC-SHA256 of workspace and capability, base64url>`. */
function makeCapabilityTokens(key: Buffer): CapabilityTokens {
  const of = (workspace_id: string, capability_id: string) => {
    const mac = createHmac('sha256', key).update(`${workspace_id} ${capability_id}`).digest('base64url');
    return `${capability_id}.${mac}`;
  };
  return {
    of,
    open(workspace_id, token) {
      const capability_id = token.split('.')[0] as string;
      if (!/^cap_[0-9A-HJKMNP-TV-Z]{26}$/.test(capability_id)) return null;
      const given = Buffer.from(token);
      const expected = Buffer.from(of(workspace_id, capability_id));
      return given.length === expected.length && timingSafeEqual(given, expected) ? capability_id : null;
    },
  };
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** What a DER private key (PKCS #8) of Ed25519 begins with (RFC 8410); the 32 secret bytes follow. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

function makeSigningKey(seed: Buffer): SigningKey {
  const der = Buffer.concat([PKCS8_HEAD, seed]);
  const private_key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x } = createPublicKey(private_key).export({ format: 'jwk' });
  return {
    ...makeVerifyingKey(Buffer.from(x as string, 'base64url')),
    sign: (text) => sign(null, Buffer.from(text), private_key),
  };
}

/** Derives every secret by HKDF-SHA256 (RFC 5869), each under a name of its own. */
export function deriveSecrets(secret_key: Buffer): Secrets {
  const derive = (name: string) => Buffer.from(hkdfSync('sha256', secret_key, '', `purser/${name}/v1`, 32));
  const pepper = derive('api-key-pepper');
  const cursor = derive('cursor');
  const webhooks = derive('webhook-secrets');
  return {
    keyDigest: (key) => createHmac('sha256', pepper).update(key).digest(),
    cursorMac: (text) => createHmac('sha256', cursor).update(text).digest(),
    capabilityTokens: makeCapabilityTokens(derive('capability-token')),
    installationCheck: derive('installation-check'),
    sealWebhookSecret(workspace_id, secret, nonce) {
      const cipher = createCipheriv('aes-256-gcm', webhooks, nonce).setAAD(Buffer.from(workspace_id));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64');
    },
    openWebhookSecret(workspace_id, sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      const decipher = createDecipheriv('aes-256-gcm', webhooks, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(workspace_id)).setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    },
    checkpointKey: makeSigningKey(derive('checkpoint')),
  };
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_CHARACTERS = 32;

/**
 * A fresh API key: `sk_`, 32 random base-62 characters (190 bits) and 6 that carry their CRC-32, so that secret
 * scanners can tell a key from other text. `randomBelow` gives a fair whole number from 0 up to its argument.
 */
export function makeApiKey(randomBelow: (limit: number) => number): string {
  let secret = '';
  for (let i = 0; i < KEY_CHARACTERS; i++) secret += BASE62[randomBelow(62)];
  let rest = crc32(secret);
  let check = '';
  for (let i = 0; i < 6; i++) {
    check = BASE62[rest % 62] + check;
    rest = Math.floor(rest / 62);
  }
  return `sk_${secret}${check}`;
}

/** `sk_…a1b2`: enough to tell keys apart. */
export function keyHint(key: string): string {
  return `sk_…${key.slice(-4)}`;
}
