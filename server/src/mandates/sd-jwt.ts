import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { ApiError } from '@purser/rules/errors';
import { SDJwtInstance } from '@sd-jwt/core';
import { invalidAllowance } from '../service/allowances/signed-allowances.ts';
import { parseStrictJson } from '../service/http/strict-json.ts';

export type Json = Readonly<Record<string, unknown>>;

/** A JWT with its disclosures, as it was presented. Nothing of it is verified. */
export interface SdJwt {
  /** Its place in the presentation, for messages. */
  name: string;
  /** The JWT, and the same with a `~` after it and after each disclosure: what the next signature is bound to. */
  jwt: string;
  text: string;
  header: Json;
  payload: Json;
  disclosures: readonly Disclosure[];
}

interface Disclosure {
  digest: string;
  /** Null for an element of an array. */
  key: string | null;
  value: unknown;
}

/** SHA-256 of a text in base64url, as digests and bindings have it. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

const HEADER: readonly string[] = ['alg', 'kid', 'typ'];

/** The place of an element that was not disclosed. */
const ELEMENT = '...';
const MEMBERS = '_sd';

const reader = new SDJwtInstance<Record<string, unknown>>({
  hasher: (data) =>
    createHash('sha256')
      .update(data as string)
      .digest(),
});

/** True for a JSON object. */
export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown) => typeof value === 'string';

/** The bytes of a base64url text in its only form: without padding, and with no bit set that says nothing. */
function bytesOf(text: string, name: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (text === '' || bytes.toString('base64url') !== text)
    throw invalidAllowance(`${name}: is not base64url in its only form.`);
  return bytes;
}

function jsonOf(text: string, name: string): unknown {
  try {
    return parseStrictJson(bytesOf(text, name));
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_request')
      throw invalidAllowance(`${name}: ${error.message}`);
    throw error;
  }
}

function objectOf(text: string, name: string): Json {
  const found = jsonOf(text, name);
  if (!isObject(found)) throw invalidAllowance(`${name}: is no JSON object.`);
  return found;
}

/**
 * Reads a JWT and the disclosures after it, `text` ending with a `~`. Throws ApiError `allowance_invalid` where a part is not in
 * its only form, its JSON has two meanings, or the header has more than `alg` ES256, `typ` and `kid`.
 */
export async function readSdJwt(text: string, name: string): Promise<SdJwt> {
  const [jwt = '', ...encoded] = text.slice(0, -1).split('~');
  const parts = jwt.split('.');
  if (parts.length !== 3) throw invalidAllowance(`${name}: is no JWT in its compact form.`);
  const [head, body, signature] = parts as [string, string, string];
  const header = objectOf(head, `${name} header`);
  const payload = objectOf(body, `${name} claims`);
  bytesOf(signature, `${name} signature`);
  for (const each of encoded) {
    const found = jsonOf(each, `${name} disclosure`);
    if (!Array.isArray(found) || ![2, 3].includes(found.length) || !found.slice(0, -1).every(isText))
      throw invalidAllowance(
        `${name} disclosure: must be an array of a salt, a name if it has one, and a value.`,
      );
  }
  const other = Object.keys(header).find((each) => !HEADER.includes(each));
  if (other !== undefined)
    throw invalidAllowance(`${name} header: "${other.slice(0, 64)}" is not known; it has alg, kid and typ.`);
  if (header.alg !== 'ES256') throw invalidAllowance(`${name} alg: must be ES256.`);
  if (payload._sd_alg !== undefined && payload._sd_alg !== 'sha-256')
    throw invalidAllowance(`${name} _sd_alg: must be sha-256.`);
  const opened = await reader.decode(text);
  const disclosures = (opened.disclosures ?? []).map(({ key, value }, i) => ({
    digest: digestOf(encoded[i] as string),
    key: key ?? null,
    value,
  }));
  return { name, jwt, text, header, payload, disclosures };
}

/** The P-256 key of a JWK. Throws ApiError `allowance_invalid` that begins with `name`. */
export function publicKeyOf(jwk: unknown, name: string): KeyObject {
  const { kty, crv, x, y } = isObject(jwk) ? jwk : {};
  try {
    if (kty !== 'EC' || crv !== 'P-256' || typeof x !== 'string' || typeof y !== 'string')
      throw new Error('another key');
    return createPublicKey({ format: 'jwk', key: { kty, crv, x, y } });
  } catch {
    throw invalidAllowance(`${name}: must be a P-256 key.`);
  }
}

/** Returns whether the signature of a JWT is that of a key. Its times are not judged here: the database has the clock. */
export async function isSignedBy({ jwt, text }: SdJwt, key: KeyObject): Promise<boolean> {
  const opened = await reader.decode(text);
  const verifier = (data: string, signature: string) =>
    verify(
      'sha256',
      Buffer.from(data),
      { key, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
  try {
    // Without bounds: the library would judge times by the clock of this process.
    await opened.jwt?.verify(verifier, { skewSeconds: Number.POSITIVE_INFINITY });
    return opened.jwt?.encodeJwt() === jwt;
  } catch {
    return false;
  }
}

/**
 * The claims with everything that was disclosed in its place. What was not disclosed stays as it is signed, `{ "...": digest }` or
 * in `_sd`, so that no reader takes it for nothing. `may_list`: the outermost `_sd` may also list elements of arrays, as Verifiable
 * Intent has it. Throws ApiError `allowance_invalid` where a disclosure belongs to nothing, or is there twice.
 */
export function disclosedClaims(sd_jwt: SdJwt, { may_list = false } = {}): Json {
  const { name, payload, disclosures } = sd_jwt;
  const by_digest = new Map(disclosures.map((each) => [each.digest, each]));
  if (by_digest.size < disclosures.length) throw invalidAllowance(`${name}: has a disclosure twice.`);
  const opened = new Set<string>();
  const listed = new Set<string>();
  const wrong = () => invalidAllowance(`${name}: a disclosure is not one of what was signed.`);
  // Each once, as the standard has it: pieces that name others twice over would grow without end.
  const once = ({ digest, value }: Disclosure): unknown => {
    if (opened.has(digest)) throw wrong();
    opened.add(digest);
    return open(value, false);
  };
  const open = (value: unknown, is_outermost: boolean): unknown => {
    if (Array.isArray(value)) return value.map(element);
    return isObject(value) ? members(value, is_outermost) : value;
  };
  const element = (value: unknown): unknown => {
    if (!isObject(value) || !Object.hasOwn(value, ELEMENT)) return open(value, false);
    const digest = value[ELEMENT];
    if (typeof digest !== 'string' || Object.keys(value).length > 1) throw wrong();
    const found = by_digest.get(digest);
    if (found === undefined) return value;
    if (found.key !== null) throw wrong();
    return once(found);
  };
  const members = (value: Json, is_outermost: boolean): Json => {
    const { [MEMBERS]: digests, ...plain } = value;
    const made = new Map(Object.entries(plain).map(([key, each]) => [key, open(each, false)]));
    if (digests === undefined) return Object.fromEntries(made);
    if (!Array.isArray(digests)) throw wrong();
    const hidden: unknown[] = [];
    for (const digest of digests) {
      const found = by_digest.get(digest);
      if (found?.key == null) {
        if (found !== undefined && !(may_list && is_outermost)) throw wrong();
        hidden.push(digest);
        listed.add(digest);
        continue;
      }
      if (made.has(found.key) || found.key === ELEMENT || found.key === MEMBERS) throw wrong();
      made.set(found.key, once(found));
    }
    return Object.fromEntries(hidden.length === 0 ? made : [...made, [MEMBERS, hidden]]);
  };
  const claims = members(payload, true);
  if (disclosures.some(({ digest }) => !opened.has(digest) && !listed.has(digest))) throw wrong();
  return claims;
}
