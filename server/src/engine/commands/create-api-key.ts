import type { Scope } from '@purser/contract/values/scopes';
import { type ApiKey, keyBody, kindOfScopes } from '@purser/rules/domain/keys';
import { type Command, done, refuse } from '../lane/command.ts';
import { creatorOf, mayCarry } from '../lane/principals.ts';

export interface CreateApiKeyInput {
  name: string;
  /** The id or slug of the agent of an agent key; null for a scoped key. */
  agent: string | null;
  scopes: readonly Scope[];
  principal_id: string | null;
  /** The principal of the person or key that makes it. */
  acting_principal: string | null;
  expires_in_seconds: number | null;
  digest: Buffer;
  /** The id of the secret key that the digest was computed with. */
  secret_id: string;
  hint: string;
}

const NOT_YOURS =
  'principal_id: belongs to, or contains the id of, a current or former member; only that person can create keys with it';

/** Creates a key. The caller generates its value; only the digest is known here. */
export const createApiKey: Command<CreateApiKeyInput, ApiKey> = {
  name: 'createApiKey',
  needs: ({ agent, principal_id, acting_principal }) => ({
    ...(agent === null ? {} : { agents: [agent] }),
    principals: [principal_id, acting_principal].filter((each) => each !== null),
  }),
  apply(set, input, origin) {
    const agent = input.agent === null ? null : set.agent(input.agent);
    if (agent === undefined) return refuse('not_found', 'No such agent.');
    const { expires_in_seconds, principal_id } = input;
    const maker = creatorOf(set, origin);
    if (principal_id !== null && !mayCarry(set, principal_id, maker.person)) {
      return refuse('invalid_request', NOT_YOURS);
    }
    const key: ApiKey = {
      key_id: set.newId('api_key'),
      name: input.name,
      kind: agent === null ? kindOfScopes(input.scopes) : 'agent',
      scopes: agent === null ? input.scopes : ['authorize'],
      agent_id: agent?.agent_id ?? null,
      principal_id,
      digest: input.digest,
      hint: input.hint,
      created_at: set.now,
      expires_at:
        expires_in_seconds === null ? null : new Date(set.now_ms + expires_in_seconds * 1000).toISOString(),
      revoked_at: null,
      made_by_key_id: maker.key_id,
      made_by_principal_id: maker.principal_id,
      made_by_person: maker.person,
    };
    set.keys.add(key, input.secret_id);
    set.audit('api_key.created', { type: 'api_key', id: key.key_id }, origin, {
      from: null,
      to: keyBody(key),
      state: { api_key: key },
    });
    return done(key);
  },
};
