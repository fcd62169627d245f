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
import { makeVerifyingKey, type SigningKey, type VerifyingKey } from '@purser/rules/domain/checkpoints';

/** Makes and verifies the tokens of capabilities. None can be made from what the database holds. */
export interface CapabilityTokens {
  of(workspace_id: string, capability_id: string): string;
  /** Returns the capability of a token, or null if the token is not exactly one that was issued here. */
  open(workspace_id: string, token: string): string | null;
}

/** The form in which the database keeps the value of an API key. */
export interface KeyDigest {
  /** HMAC-SHA256 of the value. */
  digest: Buffer;
  /** The secret key that it was made with. */
  secret_id: string;
}

/** Makes the value of a new key, and the form in which the database keeps it. */
export type MakeKeyValue = () => { value: string; stored: KeyDigest & { hint: string } };

/** The purposes of HMAC-SHA256, each with its own key. */
const MAC_PURPOSES = ['session', 'setup-code', 'link', 'device', 'attempts', 'slack-code'] as const;
export type MacPurpose = (typeof MAC_PURPOSES)[number];

/** Returns the HMAC-SHA256 of a text. */
export type Mac = (text: string) => Buffer;

/**
 * The secrets derived from `SECRET_KEY`, none of which is ever in the database. New values are made with that key.
 * Values made with an old key are still accepted.
 */
export interface Secrets {
  /** A name for the secret key, which reveals nothing about it. */
  secret_id: string;
  /** The digests under which an API key may be stored: that of the present secret key, then those of old ones. */
  keyDigests: (key: string) => readonly [KeyDigest, ...KeyDigest[]];
  /** The authentication codes of cursors. New cursors use the first; all of them are accepted. */
  cursorMacs: readonly [Mac, ...Mac[]];
  /**
   * Encrypts a webhook secret for its workspace: AES-256-GCM, base64. `nonce` is 12 random bytes that are used only
   * once.
   */
  sealWebhookSecret: (workspace_id: string, secret: string, nonce: Buffer) => string;
  /** Decrypts it. Throws if it was altered, belongs to another workspace, or was encrypted with an unknown key. */
  openWebhookSecret: (workspace_id: string, sealed: string) => string;
  /** Returns whether it is encrypted with the present key. */
  isSealedNow: (workspace_id: string, sealed: string) => boolean;
  capabilityTokens: CapabilityTokens;
  /**
   * The digests of sessions and set-up codes, the proofs in links and device cookies, the names of counters of wrong
   * passwords, the digests of codes for Slack: the first makes them, any may have made them.
   */
  macs: (purpose: MacPurpose) => readonly [Mac, ...Mac[]];
  /** Encrypts what a browser keeps between two steps of a sign-in: AES-256-GCM, base64url. `nonce` as above. */
  sealState: (text: string, nonce: Buffer) => string;
  /** The text again; null when it was altered, or sealed under an unknown key. */
  openState: (sealed: string) => string | null;
  /**
   * The check values by which a database recognises its SECRET_KEY, 32 bytes each, which reveal nothing else: that of
   * the present key, then those of the old ones.
   */
  installationChecks: readonly [Buffer, ...Buffer[]];
  /** The Ed25519 key that signs checkpoints of the ledger. Its public half is published. */
  checkpointKey: SigningKey;
  /** The published keys that checkpoints are verified with: that key first, then the old ones. */
  verifyingKeys: readonly VerifyingKey[];
}

/** Makes tokens of the form `<capability_id>.<HMAC-SHA256 of workspace and capability, base64url>`. */
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
/** The beginning of an Ed25519 private key in DER (PKCS #8, RFC 8410), before its 32 secret bytes. */
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

/** Encrypts a text with AES-256-GCM: nonce, text and tag. Decryption needs the same `bound_to`. */
function seal(key: Buffer, bound_to: string, text: string, nonce: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(bound_to));
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts a text. Returns null if it was altered, or encrypted with another key or another `bound_to`. */
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

/** Derives the secrets from one secret key by HKDF-SHA256 (RFC 5869), each under a name of its own. */
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

/** Returns the name of the secret key from which a check value was derived. */
export function secretIdOf(installationCheck: Buffer): string {
  return installationCheck.toString('hex').slice(0, SECRET_ID_LENGTH);
}

/**
 * Derives all secrets from the present key, and those of the `old` keys for what was made with them. `retired` are
 * public keys of earlier checkpoints whose secret keys are gone.
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
      throw new Error('the webhook secret was altered, or sealed with an unknown secret key');
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
 * Returns a new API key: `sk_`, 32 random base-62 characters (190 bits) and their CRC-32 in 6 more, by which secret
 * scanners recognise a key. `randomBelow` returns a uniformly distributed whole number from 0 up to its argument.
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

/** Returns a hint such as `sk_…a1b2`, by which people can tell keys apart. */
export function keyHint(key: string): string {
  return `sk_…${key.slice(-4)}`;
}

/** Makes the function that makes the values of keys. */
export function makeKeyValues(
  { keyDigests }: Pick<Secrets, 'keyDigests'>,
  newKey: () => string,
): MakeKeyValue {
  return () => {
    const value = newKey();
    return { value, stored: { ...keyDigests(value)[0], hint: keyHint(value) } };
  };
}
