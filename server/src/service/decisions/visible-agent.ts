import type { Agent } from '@purser/rules/domain/agents';
import type { Caller } from '@purser/rules/domain/keys';
import { ApiError } from '@purser/rules/errors';
import { getAgent } from '../../engine/storage/agents.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { agentScopeOf } from './present-decisions.ts';

/** The agent of that id or slug. Throws `not_found` where there is none that the caller may see. */
export async function visibleAgent(db: Queryable, caller: Caller, ref: string): Promise<Agent> {
  const agent = await getAgent(db, caller.workspace_id, ref);
  const own = agentScopeOf(caller);
  if (agent === undefined || (own !== null && agent.agent_id !== own)) {
    throw new ApiError('not_found', 'No such agent.');
  }
  return agent;
}
