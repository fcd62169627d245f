import type { Authority } from '@purser/contract/authority';
import type pg from 'pg';
import type { KnownAuthority } from '../../engine/commands/create-decision.ts';
import { getAgent } from '../../engine/storage/agents.ts';

/** Agents in each cache of a node. */
const MAX_AGENTS = 50_000;

/** Sets an entry, and evicts the oldest one if the cache is full. */
function setBounded<T>(cache: Map<string, T>, name: string, value: T): void {
  if (cache.size >= MAX_AGENTS) cache.delete(cache.keys().next().value as string);
  cache.set(name, value);
}

/** Returns the id of the agent that a slug or id names; undefined if the workspace has none. */
export type FindAgentId = (workspace_id: string, ref: string) => Promise<string | undefined>;

/**
 * Makes the lookup. Results are cached because a slug always names the same agent. The lane decides whether the agent
 * may still spend.
 */
export function makeFindAgentId(db: pg.Pool): FindAgentId {
  const known = new Map<string, string>();
  return async (workspace_id, ref) => {
    const name = `${workspace_id} ${ref}`;
    const cached = known.get(name);
    if (cached !== undefined) return cached;
    const agent_id = (await getAgent(db, workspace_id, ref))?.agent_id;
    if (agent_id !== undefined) setBounded(known, name, agent_id);
    return agent_id;
  };
}

/** The authority of each agent's latest decision. It may be outdated: the lane compares it with the current one. */
export interface AuthorityCache {
  latest(agent_id: string): KnownAuthority | undefined;
  /** `authority` is null if the agent has none. */
  remember(agent_id: string, authority: KnownAuthority | null): void;
}

/**
 * Makes the cache. It refers to authorities weakly, so that only the cache of `parseAuthority`, which is bounded by size,
 * holds them in memory.
 */
export function makeAuthorityCache(): AuthorityCache {
  const known = new Map<string, Omit<KnownAuthority, 'authority'> & { authority: WeakRef<Authority> }>();
  const latest = (agent_id: string): KnownAuthority | undefined => {
    const entry = known.get(agent_id);
    const authority = entry?.authority.deref();
    if (entry === undefined || authority === undefined) return undefined;
    return { ...entry, authority };
  };
  return {
    latest,
    remember(agent_id, current) {
      if (current === null) known.delete(agent_id);
      else {
        const { authority, directory_version, answers_version, allowances_version } = current;
        const before = latest(agent_id);
        if (
          before?.authority === authority &&
          before.directory_version === directory_version &&
          before.answers_version === answers_version &&
          before.allowances_version === allowances_version
        )
          return;
        setBounded(known, agent_id, { ...current, authority: new WeakRef(authority) });
      }
    },
  };
}
