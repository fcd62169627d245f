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
import { makeVerifyingKey, type SigningKey, type VerifyingKey } from './domain/checkpoints.ts';

/** Makes and proves the tokens of capabilities: nothing in the database can make one. */
export interface CapabilityTokens {
  of(workspace_id: string, capability_id: string): string;
  /** The capability that a token is for; null when it is not ours, or not exactly as it was given out. */
  open(workspace_id: string, token: string): string | null;
}

/** What the database knows of an API key's value. */
export interface KeyDigest {
  /** HMAC-SHA256 of the value. */
  digest: Buffer;
  /** The secret key that it was made with. */
  secret_id: string;
}

/** What an HMAC-SHA256 under a key of its own stands for. */
const MAC_PURPOSES = ['session', 'setup-code', 'link'] as const;
export type MacPurpose = (typeof MAC_PURPOSES)[number];

/** HMAC-SHA256 of a text. */
export type Mac = (text: string) => Buffer;

/**
 * What is derived from `SECRET_KEY`. None of it is ever in the database. What is made is made with that key; what was
 * made with an old one is read too.
 */
export interface Secrets {
  /** Names the secret key; nothing about it follows from this. */
  secret_id: string;
  /** The digests under which an API key may be kept: first the present one, then those of old keys. */
  keyDigests: (key: string) => readonly [KeyDigest, ...KeyDigest[]];
  /** What marks a list's cursor as our own: the first makes the mark, any may have made it. */
  cursorMacs: readonly [Mac, ...Mac[]];
  /**
   * Encrypts a webhook secret for its workspace: AES-256-GCM, base64. `nonce`: 12 random bytes, never used before.
   */
  sealWebhookSecret: (workspace_id: string, secret: string, nonce: Buffer) => string;
  /** The secret again. Throws when it was altered, belongs to another workspace or was made under an unknown key. */
  openWebhookSecret: (workspace_id: string, sealed: string) => string;
  /** Whether it is sealed with the present key. */
  isSealedNow: (workspace_id: string, sealed: string) => boolean;
  capabilityTokens: CapabilityTokens;
  /** The digests of sessions and set-up codes, and the proofs in links: the first makes them, any may have made them. */
  macs: (purpose: MacPurpose) => readonly [Mac, ...Mac[]];
  /** Encrypts what a browser keeps between two steps of a sign-in: AES-256-GCM, base64url. `nonce` as above. */
  sealState: (text: string, nonce: Buffer) => string;
  /** The text again; null when it was altered, or sealed under an unknown key. */
  openState: (sealed: string) => string | null;
  /**
   * What a database keeps to tell one SECRET_KEY from another, 32 bytes from which nothing else follows: of the present
   * key first, then of the old ones.
   */
  installationChecks: readonly [Buffer, ...Buffer[]];
  /** Ed25519, for checkpoints of the ledger. Its public half is published. */
  checkpointKey: SigningKey;
  /** What checkpoints may be signed with: that key first, then the old ones. Published. */
  verifyingKeys: readonly VerifyingKey[];
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
const SECRET_ID_LENGTH = 16;
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

/** Encrypts a text with AES-256-GCM: nonce, text and tag. `bound_to` must be the same when it is opened. */
function seal(key: Buffer, bound_to: string, text: string, nonce: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(bound_to));
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** The text again; null: it was not sealed with this key for this, or was altered. */
function open(key: Buffer, bound_to: string, bytes: Buffer): string | null {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(bound_to)).setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

/** What is derived from one secret key, by HKDF-SHA256 (RFC 5869), each under a name of its own. */
function deriveOne(secret_key: Buffer) {
  const derive = (name: string) => Buffer.from(hkdfSync('sha256', secret_key, '', `purser/${name}/v1`, 32));
  const pepper = derive('api-key-pepper');
  const cursor = derive('cursor');
  const webhooks = derive('webhook-secrets');
  const state = derive('sign-in-state');
  const installationCheck = derive('installation-check');
  const secret_id = secretIdOf(installationCheck);
  return {
    secret_id,
    installationCheck,
    keyDigest: (key: string): KeyDigest => ({
      digest: createHmac('sha256', pepper).update(key).digest(),
      secret_id,
    }),
    cursorMac: (text: string) => createHmac('sha256', cursor).update(text).digest(),
    capabilityTokens: makeCapabilityTokens(derive('capability-token')),
    sealWebhookSecret: (workspace_id: string, secret: string, nonce: Buffer) =>
      seal(webhooks, workspace_id, secret, nonce).toString('base64'),
    openWebhookSecret: (workspace_id: string, sealed: string) =>
      open(webhooks, workspace_id, Buffer.from(sealed, 'base64')),
    macs: Object.fromEntries(
      MAC_PURPOSES.map((purpose) => {
        const key = derive(purpose);
        return [purpose, (text: string) => createHmac('sha256', key).update(text).digest()];
      }),
    ) as Record<MacPurpose, Mac>,
    sealState: (text: string, nonce: Buffer) => seal(state, '', text, nonce).toString('base64url'),
    openState: (sealed: string) => open(state, '', Buffer.from(sealed, 'base64url')),
    checkpointKey: makeSigningKey(derive('checkpoint')),
  };
}

/** The name of the secret key that an installation check was derived from. */
export function secretIdOf(installationCheck: Buffer): string {
  return installationCheck.toString('hex').slice(0, SECRET_ID_LENGTH);
}

/**
 * Derives every secret from the present key, and from `old` ones what they made. `retired`: the public keys that
 * checkpoints were signed with before, whose secret keys are gone.
 */
export function deriveSecrets(
  secret_key: Buffer,
  { old = [], retired = [] }: { old?: readonly Buffer[]; retired?: readonly VerifyingKey[] } = {},
): Secrets {
  const present = deriveOne(secret_key);
  const earlier = old.map(deriveOne);
  const all = [present, ...earlier];
  const signing = all.map(({ checkpointKey }) => checkpointKey);
  const known = new Set(signing.map(({ key_id }) => key_id));
  return {
    secret_id: present.secret_id,
    keyDigests: (key) => [present.keyDigest(key), ...earlier.map(({ keyDigest }) => keyDigest(key))],
    cursorMacs: [present.cursorMac, ...earlier.map(({ cursorMac }) => cursorMac)],
    sealWebhookSecret: present.sealWebhookSecret,
    openWebhookSecret(workspace_id, sealed) {
      for (const one of all) {
        const secret = one.openWebhookSecret(workspace_id, sealed);
        if (secret !== null) return secret;
      }
      throw new Error('the webhook secret was altered, or sealed with a secret key that is not known here');
    },
    macs: (purpose) => [present.macs[purpose], ...earlier.map(({ macs }) => macs[purpose])],
    sealState: present.sealState,
    openState(sealed) {
      for (const one of all) {
        const text = one.openState(sealed);
        if (text !== null) return text;
      }
      return null;
    },
    isSealedNow: (workspace_id, sealed) => present.openWebhookSecret(workspace_id, sealed) !== null,
    capabilityTokens: {
      of: present.capabilityTokens.of,
      open(workspace_id, token) {
        for (const { capabilityTokens } of all) {
          const capability_id = capabilityTokens.open(workspace_id, token);
          if (capability_id !== null) return capability_id;
        }
        return null;
      },
    },
    installationChecks: [
      present.installationCheck,
      ...earlier.map(({ installationCheck }) => installationCheck),
    ],
    checkpointKey: present.checkpointKey,
    verifyingKeys: [...signing, ...retired.filter(({ key_id }) => !known.has(key_id))],
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
