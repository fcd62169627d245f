import type { CreateAllowanceRequest } from './types.ts';

/** A private Ed25519 key as a JWK. */
export interface PrivateJwk {
  kty?: string | undefined;
  crv?: string | undefined;
  x?: string | undefined;
  d?: string | undefined;
}
/** A private key that was imported. */
type SigningKey = Parameters<typeof crypto.subtle.sign>[1];

export interface SignAllowanceOptions {
  /** The body of a new allowance, without what its issuer says (`parent`, `budget`) and its own id. */
  allowance: Omit<CreateAllowanceRequest, 'parent' | 'budget' | 'external_id'>;
  /** The issuer's id, `iss_…`. */
  issuer: string;
  /** The workspace's id, `ws_…`: it is good there alone. */
  workspace: string;
  /** The issuer's Ed25519 key: as a JWK with `d`, or as a `CryptoKey` that may sign. */
  privateKey: PrivateJwk | SigningKey;
  /** Its name. Default: a random UUID. Two JWTs with one name never make two allowances. */
  jti?: string | undefined;
  /** How long it may be presented, in seconds. Default 3600. */
  expiresInSeconds?: number | undefined;
  /** The present time in Unix seconds, for tests. */
  now?: number | undefined;
}

const DEFAULT_LIFETIME_S = 3_600;
const encoder = new TextEncoder();

const isJwk = (key: PrivateJwk | SigningKey): key is PrivateJwk => 'kty' in key;

const base64url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/**
 * Signs an allowance as another system's word: a JWT that its holder presents, or names in `spend`. Nothing is sent.
 * Rejects where the key is no Ed25519 key that may sign.
 */
export async function signAllowance(options: SignAllowanceOptions): Promise<string> {
  const { allowance, issuer, workspace, privateKey, jti = crypto.randomUUID() } = options;
  const { expiresInSeconds = DEFAULT_LIFETIME_S, now: iat = Math.floor(Date.now() / 1000) } = options;
  const key = isJwk(privateKey)
    ? await crypto.subtle.importKey('jwk', privateKey as never, { name: 'Ed25519' }, false, ['sign'])
    : privateKey;
  const header = { alg: 'EdDSA', kid: issuer, typ: 'purser-allowance+jwt' };
  const claims = { aud: workspace, jti, iat, exp: iat + expiresInSeconds, allowance };
  const encoded = [header, claims].map((part) => base64url(encoder.encode(JSON.stringify(part))));
  const text = encoded.join('.');
  const signature = await crypto.subtle.sign({ name: 'Ed25519' }, key, encoder.encode(text));
  return `${text}.${base64url(new Uint8Array(signature))}`;
}
