import {
  SIGNED_ALLOWANCE_ALGS,
  SIGNED_ALLOWANCE_TYPE,
  SignedAllowanceClaims,
} from '@purser/contract/allowances/issuers';
import type { AllowanceIssuer } from '@purser/rules/allowances/issuers';
import { recordHash } from '@purser/rules/domain/ledger';
import { ApiError } from '@purser/rules/errors';
import { compactVerify, decodeProtectedHeader, importJWK, type ProtectedHeaderParameters } from 'jose';
import { parseStrictJson } from '../http/strict-json.ts';
import { compileSchema } from '../http/validation.ts';

/** A JWT whose signature is its issuer's. */
export interface SignedAllowance {
  issuer: AllowanceIssuer;
  claims: SignedAllowanceClaims;
  /** SHA-256 of the claims as they were signed, in RFC 8785 form, hex. */
  claims_hash: string;
}

const checkClaims = compileSchema(SignedAllowanceClaims, 'body');
const ISSUER_ID = /^iss_[A-Za-z0-9]{1,64}$/;
const HEADER: readonly string[] = ['alg', 'kid', 'typ'];

/** The refusal of a signed allowance or mandate. */
export const invalidAllowance = (message: string): ApiError => new ApiError('allowance_invalid', message);

/** The issuer that a header names, once everything else of the header is right. Throws ApiError `allowance_invalid`. */
function kidOf(header: ProtectedHeaderParameters): string {
  const { alg, typ, kid } = header;
  const other = Object.keys(header).find((name) => !HEADER.includes(name));
  if (other !== undefined)
    throw invalidAllowance(`header: "${other.slice(0, 64)}" is not known; it has alg, kid and typ.`);
  if (!(SIGNED_ALLOWANCE_ALGS as readonly unknown[]).includes(alg))
    throw invalidAllowance(`alg: must be ${SIGNED_ALLOWANCE_ALGS.join(' or ')}.`);
  if (typ !== SIGNED_ALLOWANCE_TYPE) throw invalidAllowance(`typ: must be ${SIGNED_ALLOWANCE_TYPE}.`);
  if (typeof kid !== 'string' || !ISSUER_ID.test(kid))
    throw invalidAllowance('kid: must be the id of an issuer, which begins with "iss_".');
  return kid;
}

function headerOf(signed: string): ProtectedHeaderParameters {
  try {
    return decodeProtectedHeader(signed);
  } catch {
    throw invalidAllowance('header: is not base64url of a JSON object.');
  }
}

async function payloadOf(signed: string, { jwk }: AllowanceIssuer): Promise<Buffer> {
  const key = await importJWK(JSON.parse(jwk), 'EdDSA');
  try {
    const { payload } = await compactVerify(signed, key, { algorithms: [...SIGNED_ALLOWANCE_ALGS] });
    return Buffer.from(payload);
  } catch {
    throw invalidAllowance('signature: is not that of the issuer’s key over this header and these claims.');
  }
}

/** The claims of a payload. Throws ApiError `allowance_invalid` that names the claim. */
function claimsOf(payload: Buffer, workspace_id: string): Pick<SignedAllowance, 'claims' | 'claims_hash'> {
  try {
    const claims = parseStrictJson(payload) as SignedAllowanceClaims;
    // Before the check, which puts texts into their normal form.
    const claims_hash = recordHash(claims).toString('hex');
    checkClaims(claims);
    if (claims.aud !== workspace_id) throw invalidAllowance(`aud: must be this workspace, ${workspace_id}.`);
    return { claims, claims_hash };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_request')
      throw invalidAllowance(error.message.replace(/^body/, 'claims'));
    throw error;
  }
}

/**
 * Checks what does not depend on time: form, header, signature, claims, workspace. `findIssuer` returns undefined where the
 * workspace has none of an id. Throws ApiError `allowance_invalid` that says what is wrong, and keeps nothing.
 */
export async function openSignedAllowance(
  signed: string,
  workspace_id: string,
  findIssuer: (issuer_id: string) => Promise<AllowanceIssuer | undefined>,
): Promise<SignedAllowance> {
  if (signed.split('.').length !== 3) throw invalidAllowance('signed: is no JWT in its compact form.');
  const issuer_id = kidOf(headerOf(signed));
  const issuer = await findIssuer(issuer_id);
  if (issuer === undefined) throw invalidAllowance('kid: no such issuer.');
  return { issuer, ...claimsOf(await payloadOf(signed, issuer), workspace_id) };
}
