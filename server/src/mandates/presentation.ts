import { createHash } from 'node:crypto';
import { invalidAllowance } from '../service/allowances/signed-allowances.ts';
import {
  digestOf,
  disclosedClaims,
  isObject,
  isSignedBy,
  type Json,
  publicKeyOf,
  readSdJwt,
  type SdJwt,
} from './sd-jwt.ts';

/** The JWTs that an agent presents: those that others signed, the outermost first, and the binding by its own key. */
export interface Presentation {
  tokens: readonly SdJwt[];
  binding: SdJwt;
}

/** `typ` of the JWT behind the last `~`, and of one that follows a `~~`, each with the name that Verifiable Intent has. */
const BINDING_TYPES = { last: ['kb+jwt'], next: ['kb+sd-jwt', 'kb-sd-jwt'] } as const;

/**
 * Reads a presentation: SD-JWTs joined by `~~`, and the key binding behind the last `~` (`kb+jwt`) or behind a further `~~`
 * (`kb+sd-jwt`). Throws ApiError `allowance_invalid` where it is none, or has no key binding.
 */
export async function readPresentation(signed: string, names: readonly string[]): Promise<Presentation> {
  const parts = signed.split('~~');
  const last = parts.pop() as string;
  const is_next = last.endsWith('~');
  const cut = last.lastIndexOf('~');
  if (!is_next && cut !== -1) parts.push(last.slice(0, cut));
  const bound = is_next ? last : `${last.slice(cut + 1)}~`;
  if (parts.length !== names.length || (!is_next && cut === -1))
    throw invalidAllowance(
      `signed: must be ${names.join(' and ')}, joined by "~~", and a key binding after them.`,
    );
  const tokens = await Promise.all(parts.map((each, i) => readSdJwt(`${each}~`, names[i] as string)));
  const binding = await readSdJwt(bound, 'key binding');
  const types: readonly unknown[] = BINDING_TYPES[is_next ? 'next' : 'last'];
  if (!types.includes(binding.header.typ))
    throw invalidAllowance(`key binding typ: must be ${types.join(' or ')}.`);
  return { tokens, binding };
}

/** The name of the key that signed the outermost JWT. Throws ApiError `allowance_invalid` where it has none. */
export function keyIdOf({ name, header: { kid } }: SdJwt): string {
  if (typeof kid !== 'string' || kid === '') throw invalidAllowance(`${name} kid: is required.`);
  return kid;
}

/** The key of a claim `cnf`, and the name that it has there. Throws ApiError `allowance_invalid`. */
export function confirmedKey(claims: Json, name: string) {
  const { cnf } = claims;
  const { jwk, kid } = isObject(cnf) ? cnf : {};
  return { key: publicKeyOf(jwk, `${name} cnf.jwk`), key_id: typeof kid === 'string' ? kid : null };
}

/** Checks that a JWT is signed by the key that the one before it confirms, over exactly that one. Throws `allowance_invalid`. */
export async function checkFollows(
  next: SdJwt,
  before: SdJwt,
  { key, key_id }: ReturnType<typeof confirmedKey>,
): Promise<void> {
  const { name, header, payload } = next;
  if (key_id !== null && header.kid !== undefined && header.kid !== key_id)
    throw invalidAllowance(`${name} kid: is not that of cnf.`);
  if (!(await isSignedBy(next, key)))
    throw invalidAllowance(`${name} signature: is not that of the key in cnf of the ${before.name}.`);
  if (payload.sd_hash !== digestOf(before.text))
    throw invalidAllowance(`${name} sd_hash: is not that of the ${before.name} as it is presented.`);
}

/** The key binding's times, in Unix seconds. */
export interface Binding {
  iat: number;
  nbf: number | null;
  exp: number | null;
}

/**
 * Checks the key binding: by the key that the mandate confirms, for this workspace, over what is presented. Its time is for the
 * database to judge. Throws ApiError `allowance_invalid` that says what is wrong.
 */
export async function checkBinding(
  { tokens, binding }: Presentation,
  mandate: Json,
  workspace_id: string,
): Promise<Binding> {
  await checkFollows(binding, tokens.at(-1) as SdJwt, confirmedKey(mandate, 'mandate'));
  const { aud, iat, nbf, exp, cnf } = binding.payload;
  if (aud !== workspace_id)
    throw invalidAllowance(`key binding aud: must be this workspace, ${workspace_id}.`);
  if (!isSeconds(iat)) throw invalidAllowance('key binding iat: must be a time in seconds.');
  if (nbf !== undefined && !isSeconds(nbf))
    throw invalidAllowance('key binding nbf: must be a time in seconds.');
  if (exp !== undefined && !isSeconds(exp))
    throw invalidAllowance('key binding exp: must be a time in seconds.');
  const delegated = disclosedClaims(binding, { may_list: true }).delegate_payload;
  const further = Array.isArray(delegated) ? delegated : [];
  if (cnf !== undefined || further.some((each) => isObject(each) && each.cnf !== undefined))
    throw invalidAllowance('key binding cnf: is not allowed, because nothing follows it.');
  return { iat, nbf: nbf ?? null, exp: exp ?? null };
}

const MAX_SECONDS = 253_402_300_799;

/** True for a time in Unix seconds, up to the year 9999. */
export const isSeconds = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_SECONDS;

/** The order of P-256. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/**
 * SHA-256 of a signed JWT, hex, and of the same JWT with its signature in the other form: to every ECDSA signature (r, s) there is
 * (r, n - s), which anybody can make and which is as good. Both are the same mandate.
 */
export function identitiesOf(jwt: string): [own: string, other: string] {
  const cut = jwt.lastIndexOf('.') + 1;
  const signature = Buffer.from(jwt.slice(cut), 'base64url');
  const s = BigInt(`0x${signature.subarray(32).toString('hex')}`);
  const other_s = Buffer.from((ORDER - s).toString(16).padStart(64, '0'), 'hex');
  const other = Buffer.concat([signature.subarray(0, 32), other_s]).toString('base64url');
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  return [sha256(jwt), sha256(`${jwt.slice(0, cut)}${other}`)];
}
