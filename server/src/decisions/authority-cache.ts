import type pg from 'pg';
import type { KnownAuthority } from '../commands/create-decision.ts';
import type { Authority } from '../domain/authorities.ts';
import { getAgent } from '../storage/agents.ts';

/** How many agents a node remembers something of. */
const MAX_AGENTS = 50_000;

/** Sets an entry, and forgets the oldest when there are too many. */
function rememberIn<T>(map: Map<string, T>, name: string, value: T): void {
  if (map.size >= MAX_AGENTS) map.delete(map.keys().next().value as string);
  map.set(name, value);
}

/** The id of the agent that a slug or id names; undefined where the workspace has none. */
export type FindAgentId = (workspace_id: string, ref: string) => Promise<string | undefined>;

/**
 * Remembers which agent a slug names, because that never changes. Whether the agent may still spend is judged in the
 * lane.
 */
export function makeFindAgentId(db: pg.Pool): FindAgentId {
  const known = new Map<string, string>();
  return async (workspace_id, ref) => {
    const name = `${workspace_id} ${ref}`;
    const remembered = known.get(name);
    if (remembered !== undefined) return remembered;
    const agent_id = (await getAgent(db, workspace_id, ref))?.agent_id;
    if (agent_id !== undefined) rememberIn(known, name, agent_id);
    return agent_id;
  };
}

/** The authority that each agent was last decided by. It may be outdated: the lane compares it with the current one. */
export interface AuthorityCache {
  latest(agent_id: string): KnownAuthority | undefined;
  /** Null: the agent has none. */
  remember(agent_id: string, authority: KnownAuthority | null): void;
}

/**
 * Makes the cache. It refers to authorities weakly: they stay in memory through `parseAuthority` alone, which bounds how
 * much there is of them.
 */
export function makeAuthorityCache(): AuthorityCache {
  const known = new Map<string, { hash: string; authority: WeakRef<Authority> }>();
  const latest = (agent_id: string): KnownAuthority | undefined => {
    const entry = known.get(agent_id);
    const authority = entry?.authority.deref();
    return entry === undefined || authority === undefined ? undefined : { hash: entry.hash, authority };
  };
  return {
    latest,
    remember(agent_id, current) {
      if (current === null) known.delete(agent_id);
      else if (current.authority !== latest(agent_id)?.authority) {
        const { hash, authority } = current;
        rememberIn(known, agent_id, { hash, authority: new WeakRef(authority) });
      }
    },
  };
}
