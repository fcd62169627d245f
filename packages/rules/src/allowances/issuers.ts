import type { CreateIssuer } from '@purser/contract/allowances/issuers';
import type { MANDATE_FORMATS } from '@purser/contract/values/allowances';

/** Another system whose signed allowances or mandates are taken, as it is stored. All but the revocation is fixed. */
export interface AllowanceIssuer {
  issuer_id: string;
  name: string;
  /** JSON of the public key as a JWK: an Ed25519 key, or with `format` a P-256 key with a `kid`. */
  jwk: string;
  /** The format of the mandates that it signs; null: it signs allowances. */
  format: (typeof MANDATE_FORMATS)[number] | null;
  /** ISO 4217: that of all that it issues. */
  currency: string;
  /** The most that one of its allowances may have, in minor units. */
  max_amount_minor: number;
  /** Ids of the agents that its allowances may name; empty: any. */
  agents: readonly string[];
  /** All that it issues are parts of this. */
  parent_id: string | null;
  created_at: string;
  created_by_key_id: string | null;
  created_by_principal_id: string | null;
  /** From then on nothing new of it is accepted; what it issued stays. */
  revoked_at: string | null;
}

/** The name in `created_by` of its allowances. Who presented one is in the audit list. No key or person has such a name. */
export const principalOfIssuer = (issuer_id: string): string => `issuer:${issuer_id}`;

/** An issuer as audit records show it. */
export const auditedIssuer = (issuer: AllowanceIssuer) => {
  const { name, jwk, format, currency, max_amount_minor, agents, parent_id, revoked_at } = issuer;
  const of_format = format === null ? {} : { format };
  return { name, jwk, ...of_format, currency, max_amount_minor, agents, parent_id, revoked_at };
};

/** The problem with the key of a new issuer, which goes with what it signs; null if there is none. */
export function issuerProblem({
  format,
  jwk,
}: Pick<CreateIssuer, 'format' | 'jwk'>): { field: string; problem: string } | null {
  const { kty, crv, y, kid, alg } = jwk;
  const wrong = (field: string, problem: string) => ({ field: `jwk.${field}`, problem });
  if (format === undefined) {
    const because = 'because signed allowances have an Ed25519 key';
    if (kty !== 'OKP') return wrong('kty', `must be OKP, ${because}; format names mandates`);
    if (crv !== 'Ed25519') return wrong('crv', `must be Ed25519, ${because}`);
    if (y !== undefined) return wrong('y', `must be omitted, ${because}`);
    return alg === 'ES256' ? wrong('alg', `must be EdDSA or Ed25519, ${because}`) : null;
  }
  const because = `because ${format} mandates have a P-256 key`;
  if (kty !== 'EC') return wrong('kty', `must be EC, ${because}`);
  if (crv !== 'P-256') return wrong('crv', `must be P-256, ${because}`);
  if (y === undefined) return wrong('y', `is required, ${because}`);
  if (alg !== undefined && alg !== 'ES256') return wrong('alg', `must be ES256, ${because}`);
  return kid === undefined ? wrong('kid', 'is required, because mandates name their key by it') : null;
}
