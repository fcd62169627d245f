/** Another system whose signed allowances are taken, as it is stored. All but the revocation is fixed. */
export interface AllowanceIssuer {
  issuer_id: string;
  name: string;
  /** JSON of the public key, an Ed25519 key as a JWK. */
  jwk: string;
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
  const { name, jwk, currency, max_amount_minor, agents, parent_id, revoked_at } = issuer;
  return { name, jwk, currency, max_amount_minor, agents, parent_id, revoked_at };
};
