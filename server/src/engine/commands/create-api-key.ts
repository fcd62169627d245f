import type { Scope } from '@purser/contract/values/scopes';
import type { Allowance } from '@purser/rules/counters/allowances';
import { kindOfScopes } from '@purser/rules/domain/keys';
import { whyNotOpen } from '@purser/rules/policy/allowances';
import { type Command, done, refuse } from '../lane/command.ts';
import { creatorOf, mayCarry } from '../lane/principals.ts';
import { addKey, type NewKey, type NewKeyValue } from './allowances/add-key.ts';

export interface CreateApiKeyInput extends NewKeyValue {
  name: string;
  /** The id or slug of the agent of an agent key; null for a scoped key. */
  agent: string | null;
  /** The allowance that an agent key is bound to and all above it, as they were read; their places never change. */
  bound_to: readonly Allowance[];
  scopes: readonly Scope[];
  principal_id: string | null;
  /** The principal of the person or key that makes it. */
  acting_principal: string | null;
  expires_in_seconds: number | null;
}

const NOT_YOURS =
  'principal_id: belongs to, or contains the id of, a current or former member; only that person can create keys with it';

/** Creates a key. The caller generates its value; only the digest is known here. */
export const createApiKey: Command<CreateApiKeyInput, NewKey> = {
  name: 'createApiKey',
  needs: ({ agent, principal_id, acting_principal, bound_to }) => ({
    allowances: bound_to.map(({ allowance_id }) => allowance_id),
    ...(agent === null ? {} : { agents: [agent] }),
    principals: [principal_id, acting_principal].filter((each) => each !== null),
  }),
  apply(set, input, origin) {
    const agent = input.agent === null ? null : set.agent(input.agent);
    if (agent === undefined) return refuse('not_found', 'No such agent.');
    const { principal_id, name, scopes, digest, secret_id, hint, expires_in_seconds } = input;
    const maker = creatorOf(set, origin);
    if (principal_id !== null && !mayCarry(set, principal_id, maker.person)) {
      return refuse('invalid_request', NOT_YOURS);
    }
    const allowance_path = input.bound_to.map(({ allowance_id }) => allowance_id);
    for (const each of set.allowances.all(allowance_path)) {
      const closed = whyNotOpen(each, set.now_ms);
      if (closed !== null) return refuse('allowance_not_open', `allowance: ${closed}`);
      if (each.agent_id !== null && each.agent_id !== agent?.agent_id)
        return refuse('not_found', 'allowance: no such allowance.');
    }
    const of_agent = { kind: 'agent', scopes: ['authorize'], agent_id: agent?.agent_id ?? null } as const;
    const scoped = { kind: kindOfScopes(scopes), scopes, agent_id: null };
    const value = { digest, secret_id, hint, expires_in_seconds };
    return done(
      addKey(
        set,
        { name, ...(agent === null ? scoped : of_agent), principal_id, allowance_path, ...value },
        origin,
      ),
    );
  },
};
