import { type AllowanceIssuer, auditedIssuer } from '@purser/rules/allowances/issuers';
import type { Allowance } from '@purser/rules/counters/allowances';
import { whyNotOpen } from '@purser/rules/policy/allowances';
import { type Command, done, refuse } from '../../lane/command.ts';

export interface CreateIssuerInput
  extends Pick<AllowanceIssuer, 'name' | 'jwk' | 'format' | 'currency' | 'max_amount_minor'> {
  /** Slugs or ids. */
  agents: readonly string[];
  /** The parent and all above it, the nearest first, as they were read; null where it was given none. */
  above: readonly Allowance[] | null;
}

/** Registers an issuer. Its allowances are judged again each time one is presented, and by the parent as it is then. */
export const createIssuer: Command<CreateIssuerInput, AllowanceIssuer> = {
  name: 'createIssuer',
  needs: ({ agents, above }) => ({ agents, allowances: (above ?? []).map((each) => each.allowance_id) }),
  apply(set, { name, jwk, format, currency, max_amount_minor, agents, above }, origin) {
    const ids: string[] = [];
    for (const [i, ref] of agents.entries()) {
      const agent = set.agent(ref);
      if (agent === undefined) return refuse('not_found', `agents[${i}]: no such agent.`);
      ids.push(agent.agent_id);
    }
    const chain = above === null ? [] : set.allowances.all(above.map((each) => each.allowance_id));
    const [parent = null] = chain;
    for (const each of chain) {
      const closed = whyNotOpen(each, set.now_ms);
      if (closed !== null) return refuse('allowance_not_open', `parent: ${closed}`);
    }
    if (parent !== null && parent.currency !== currency)
      return refuse('invalid_request', `currency: is ${currency}, but the parent is in ${parent.currency}`);
    if (parent !== null && parent.agent_id !== null && ids.length > 0)
      return refuse('invalid_request', 'agents: must be omitted, because the parent has an agent');
    const issuer: AllowanceIssuer = {
      issuer_id: set.newId('allowance_issuer'),
      name,
      jwk,
      format,
      currency,
      max_amount_minor,
      agents: [...new Set(ids)],
      parent_id: parent?.allowance_id ?? null,
      created_at: set.now,
      created_by_key_id: origin.actor.key_id,
      created_by_principal_id: origin.actor.principal_id,
      revoked_at: null,
    };
    set.allowances.putIssuer(issuer);
    set.audit('allowance_issuer.created', { type: 'allowance_issuer', id: issuer.issuer_id }, origin, {
      from: null,
      to: auditedIssuer(issuer),
      state: { allowance_issuer: issuer },
    });
    return done(issuer);
  },
};
