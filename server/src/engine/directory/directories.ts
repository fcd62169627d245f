import { type Directory, EMPTY_DIRECTORY } from '@purser/rules/merchants/directory';
import { LRUCache } from 'lru-cache';
import type { Queryable } from '../storage/database.ts';
import { loadDirectory } from '../storage/merchant-entries.ts';

/** Returns the merchants listed for an agent, which is known to be at `version`, or as they are now if that is later. */
export type DirectoryOf = (
  workspace_id: string,
  agent_id: string,
  version: number,
) => Directory | Promise<Directory>;

/** Entries of all agents together, about 0.5 KB each. */
const MAX_CACHED_ENTRIES = 200_000;

/**
 * Makes the cached look-up. A directory is read once for each of its versions, so that a decision for an agent without
 * changes since its last one reads nothing.
 */
export function makeDirectories(db: Queryable): DirectoryOf {
  const known = new LRUCache<string, Directory>({
    maxSize: MAX_CACHED_ENTRIES,
    sizeCalculation: ({ entries }) => 1 + entries.size,
  });
  return (workspace_id, agent_id, version) => {
    if (version === 0) return EMPTY_DIRECTORY;
    const cached = known.get(agent_id);
    if (cached?.version === version) return cached;
    return loadDirectory(db, workspace_id, agent_id).then((read) => {
      const latest = known.get(agent_id);
      if (latest === undefined || latest.version < read.version) known.set(agent_id, read);
      return read;
    });
  };
}
