import type { SignedAllowanceClaims } from '@purser/contract/allowances/issuers';
import { type AllowanceIssuer, principalOfIssuer } from '@purser/rules/allowances/issuers';
import { type Allowance, countersOfAllowance } from '@purser/rules/counters/allowances';
import { type Command, done, refuse } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import { type CreatedAllowance, makeOne, type One } from './create-allowances.ts';
import { addAllowance, whyNoStanding } from './record-allowance.ts';

/** The caller that presents what another system signed. */
export interface Presenter {
  /** The agent of an agent key, which presents its own alone; null for everybody else. */
  agent_id: string | null;
  /** The allowance that a key is bound to, which presents parts of it alone; null for every other caller. */
  bound_to: string | null;
}

export interface PresentAllowanceInput extends Presenter {
  /** The issuer whose signature was found good. */
  issuer_id: string;
  claims: SignedAllowanceClaims;
  /** SHA-256 of the claims in RFC 8785 form, hex. */
  claims_hash: string;
  /** The issuer's parent and all above it, the nearest first, as they were read; their places never change. */
  above: readonly Allowance[];
}

/** The origin of an allowance that an issuer signed, no matter who presents it. */
export const ofIssuer = (issuer_id: string, source: 'SIGNED' | 'MANDATE') => ({
  source,
  issuer_id,
  created_by_key_id: null,
  created_by_principal_id: principalOfIssuer(issuer_id),
});

/** Refuses a presenter that may not have an allowance with this agent and path; null: it may. */
export function whyNotTheirs(
  { agent_id, bound_to }: Presenter,
  { agent_id: of, path }: Pick<Allowance, 'agent_id' | 'path'>,
): ReturnType<typeof refuse> | null {
  if (agent_id !== null && of !== null && of !== agent_id)
    return refuse('agent_mismatch', 'The allowance is for another agent.');
  return bound_to === null || path.includes(bound_to)
    ? null
    : refuse('allowance_mismatch', 'The key is bound to an allowance, and this is no part of it.');
}

/** Why nothing of a JWT may be accepted now; null: it may. */
function whyNotNow(issuer: AllowanceIssuer, { iat, nbf = iat, exp }: SignedAllowanceClaims, now_ms: number) {
  if (issuer.revoked_at !== null) return `kid: the issuer was revoked at ${issuer.revoked_at}.`;
  if (iat * 1000 > now_ms) return 'iat: lies in the future.';
  if (nbf * 1000 > now_ms) return 'nbf: lies in the future.';
  return exp * 1000 <= now_ms ? 'exp: has passed.' : null;
}

/** Why an allowance is beyond what its issuer may issue; null: it is within. */
function whyBeyond(set: WorkingSet, issuer: AllowanceIssuer, { allowance }: SignedAllowanceClaims) {
  const { currency, max_amount_minor, agents, parent_id } = issuer;
  const given = allowance.currency;
  if (given === undefined && parent_id === null) return 'allowance.currency: is required.';
  if (given !== undefined && given !== currency)
    return `allowance.currency: is ${given}, but the issuer issues ${currency} alone.`;
  if (allowance.amount_minor > max_amount_minor)
    return `allowance.amount_minor: is over the ${max_amount_minor} of the issuer.`;
  if (agents.length === 0) return null;
  if (allowance.agent === undefined) return 'allowance.agent: is required by the issuer.';
  const agent = set.agent(allowance.agent);
  return agent !== undefined && agents.includes(agent.agent_id)
    ? null
    : 'allowance.agent: is none of the issuer’s.';
}

/**
 * Makes the allowance that an issuer signed, once for each `jti`: the JWT's id is the external id of the issuer, which is its
 * creator. What was presented before is returned as it is, whatever became of the JWT and the issuer since.
 */
export const presentAllowance: Command<PresentAllowanceInput, CreatedAllowance> = {
  name: 'presentAllowance',
  needs: ({ issuer_id, claims: { jti, allowance }, above, agent_id }) => ({
    agents: [allowance.agent, agent_id].flatMap((each) => each ?? []),
    allowances: above.map((each) => each.allowance_id),
    allowances_of_agents: allowance.automatic === true ? [allowance.agent].flatMap((each) => each ?? []) : [],
    counters: above.slice(0, 1).flatMap(countersOfAllowance),
    allowance_external_ids: [{ maker: principalOfIssuer(issuer_id), external_id: jti }],
    allowance_issuers: [issuer_id],
  }),
  apply(set, input, origin) {
    const { issuer_id, claims, claims_hash, above } = input;
    const { jti } = claims;
    const maker = principalOfIssuer(issuer_id);
    const earlier = set.allowances.byExternalId({ maker, external_id: jti });
    if (earlier !== undefined) {
      const not_theirs = whyNotTheirs(input, earlier);
      if (not_theirs !== null) return not_theirs;
      return earlier.body_hash === claims_hash
        ? done({ allowance: earlier, key: null, replayed: true })
        : refuse('allowance_exists', 'jti: already made another allowance; sign with a new one.');
    }
    const of = claims.allowance.agent === undefined ? undefined : set.agent(claims.allowance.agent);
    const refused = whyNotTheirs(input, {
      agent_id: of?.agent_id ?? above[0]?.agent_id ?? null,
      path: above.map((each) => each.allowance_id),
    });
    if (refused !== null) return refused;
    const issuer = set.allowances.issuer(issuer_id);
    if (issuer === undefined) return refuse('allowance_invalid', 'kid: no such issuer.');
    const wrong = whyNotNow(issuer, claims, set.now_ms) ?? whyBeyond(set, issuer, claims);
    if (wrong !== null) return refuse('allowance_invalid', wrong);
    const { currency: _as_the_issuers, ...rest } = claims.allowance;
    const parent = issuer.parent_id;
    // A part has the currency of its parent, which is the issuer's.
    const body = parent === null ? { ...rest, currency: issuer.currency } : { ...rest, parent };
    const given = { body, body_hash: claims_hash, above, key: null, prefix: 'allowance.' };
    const made: One = makeOne(
      set,
      given,
      { allowances: [given], maker, acting_principal: null, agent_id: null },
      origin,
    );
    if (made.kind !== 'done') return asInvalid(made);
    const allowance: Allowance = {
      ...made.value.allowance,
      ...ofIssuer(issuer_id, 'SIGNED'),
      external_id: jti,
      body_hash: claims_hash,
    };
    const too_many = whyNoStanding(set, [allowance]);
    if (too_many !== null) return { kind: 'refused', refusal: too_many };
    addAllowance(set, allowance, origin);
    return done({ allowance, key: null, replayed: false });
  },
};

/** A refusal of the body is one of the JWT here. */
export function asInvalid(made: Exclude<One, { kind: 'done' }>): Exclude<One, { kind: 'done' }> {
  if (made.kind !== 'refused') return made;
  const { code, message } = made.refusal;
  return code === 'invalid_request' || code === 'not_found' ? refuse('allowance_invalid', message) : made;
}
