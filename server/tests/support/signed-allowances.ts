import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A key pair of an issuer; `jwk` is what it registers. */
export function issuerKey(): { jwk: { kty: string; crv: string; x: string }; privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { kty, crv, x } = publicKey.export({ format: 'jwk' });
  return { jwk: { kty: kty as string, crv: crv as string, x: x as string }, privateKey };
}

/** A signed allowance. `claims` and `header` replace what would be right; undefined leaves a member out. */
export function signedAllowance(
  privateKey: KeyObject,
  kid: string,
  aud: string,
  allowance: object,
  {
    claims = {},
    header = {},
    now_ms = Date.now(),
  }: { claims?: object; header?: object; now_ms?: number } = {},
): string {
  const seconds = Math.floor(now_ms / 1000);
  const head = { alg: 'EdDSA', kid, typ: 'purser-allowance+jwt', ...header };
  const body = { aud, jti: randomUUID(), iat: seconds - 5, exp: seconds + 600, allowance, ...claims };
  const text = `${encoded(head)}.${encoded(body)}`;
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
}
