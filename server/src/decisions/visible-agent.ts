import type { Agent } from '../domain/agents.ts';
import type { Caller } from '../domain/keys.ts';
import { ApiError } from '../errors.ts';
import { getAgent } from '../storage/agents.ts';
import type { Queryable } from '../storage/database.ts';
import { onlyAgentOf } from './present-decisions.ts';

/** The agent of that id or slug. Throws `not_found` where there is none that the caller may see. */
export async function visibleAgent(db: Queryable, caller: Caller, ref: string): Promise<Agent> {
  const agent = await getAgent(db, caller.workspace_id, ref);
  const own = onlyAgentOf(caller);
  if (agent === undefined || (own !== null && agent.agent_id !== own)) {
    throw new ApiError('not_found', 'There is no such agent.');
  }
  return agent;
}
