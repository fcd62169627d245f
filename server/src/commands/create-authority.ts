import type { Agent } from '../domain/agents.ts';
import type { Origin } from '../domain/audit.ts';
import { type Authority, type AuthorityRow, authorityHash } from '../domain/authorities.ts';
import { type Command, done, refuse } from '../lane/command.ts';
import type { WorkingSet } from '../lane/working-set.ts';
import { missingList } from '../policy/authority-problem.ts';
import { canonicalJson } from '../values/canonical-json.ts';

export interface CreateAuthorityInput {
  /** Id or slug. */
  agent: string;
  authority: Authority;
  note: string | null;
  /** The hash that the current version must have; null: whatever it is. */
  expected_hash: string | null;
}

/** Adds the next version of an agent's authority; earlier versions are retained. */
export const createAuthority: Command<CreateAuthorityInput, AuthorityRow> = {
  name: 'createAuthority',
  needs: ({ agent }) => ({ agents: [agent] }),
  apply(set, input, origin) {
    const agent = set.agent(input.agent);
    if (agent === undefined) return refuse('not_found', 'There is no such agent.');
    const { authority, note, expected_hash } = input;
    if (expected_hash !== null && agent.authority_hash !== expected_hash) {
      const current =
        agent.authority_version === null
          ? 'the agent has no authority'
          : `it is at version ${agent.authority_version} (${agent.authority_hash})`;
      return refuse(
        'authority_changed',
        `The authority is not the one that if-match names: ${current}. Read it again and decide anew.`,
      );
    }
    const missing = missingList(authority, agent.directory_version);
    if (missing !== null) return refuse('invalid_request', `${missing.field}: ${missing.problem}`);
    return done(addAuthorityVersion(set, agent, { authority, note }, origin).row);
  },
};

/** Adds the version after the agent's current one, with its audit record. */
export function addAuthorityVersion(
  set: WorkingSet,
  agent: Agent,
  { authority, note }: Pick<CreateAuthorityInput, 'authority' | 'note'>,
  origin: Origin,
): { agent: Agent; row: AuthorityRow } {
  const before = set.authority(agent.agent_id);
  const row: AuthorityRow = {
    agent_id: agent.agent_id,
    version: (agent.authority_version ?? 0) + 1,
    hash: authorityHash(authority),
    authority: canonicalJson(authority),
    created_at: set.now,
    key_id: origin.actor.key_id,
    principal_id: origin.actor.principal_id,
    note,
  };
  const changed: Agent = {
    ...agent,
    authority_version: row.version,
    authority_hash: row.hash,
    updated_at: set.now,
  };
  set.addAuthority(row);
  set.putAgent(changed);
  set.audit('authority.created', { type: 'authority', id: agent.agent_id }, origin, {
    from:
      before === null
        ? null
        : { version: before.row.version, hash: before.row.hash, authority: before.authority },
    to: { version: row.version, hash: row.hash, authority, ...(note === null ? {} : { note }) },
    state: { agent: changed, authority: row },
  });
  return { agent: changed, row };
}
