import { type KnownAnswers, NO_ANSWERS } from '@purser/rules/domain/question-history';
import { type Directory, EMPTY_DIRECTORY } from '@purser/rules/merchants/directory';
import { LRUCache } from 'lru-cache';
import { loadStandingApprovals, type StandingApprovals } from '../allowances/allowance-rows.ts';
import type { Queryable } from '../storage/database.ts';
import { loadAnswers } from '../storage/derived/questions.ts';
import { loadDirectory } from '../storage/merchant-entries.ts';

/** Returns what an agent has, which is known to be at `version`, or as it is now if that is later. */
type VersionOf<Kept> = (workspace_id: string, agent_id: string, version: number) => Kept | Promise<Kept>;

/** The merchants listed for an agent. */
export type DirectoryOf = VersionOf<Directory>;
/** The answers to an agent's questions. */
export type AnswersOf = VersionOf<KnownAnswers>;

/** The standing approvals of an agent. */
export type StandingApprovalsOf = VersionOf<StandingApprovals>;
const NO_STANDING_APPROVALS: StandingApprovals = { version: 0, allowances: [] };

/** Entries or answers of all agents together, about 0.5 KB each. */
const MAX_CACHED = 200_000;

/**
 * Makes a cached look-up. What an agent has is read once for each of its versions, so that a decision for an agent without
 * changes since its last one reads nothing.
 */
function makeVersions<Kept extends { version: number }>(
  db: Queryable,
  load: (db: Queryable, workspace_id: string, agent_id: string) => Promise<Kept>,
  { nothing, sizeOf }: { nothing: Kept; sizeOf: (kept: Kept) => number },
): VersionOf<Kept> {
  const known = new LRUCache<string, Kept>({
    maxSize: MAX_CACHED,
    sizeCalculation: (kept) => 1 + sizeOf(kept),
  });
  return (workspace_id, agent_id, version) => {
    if (version === 0) return nothing;
    const cached = known.get(agent_id);
    if (cached?.version === version) return cached;
    return load(db, workspace_id, agent_id).then((read) => {
      const latest = known.get(agent_id);
      if (latest === undefined || latest.version < read.version) known.set(agent_id, read);
      return read;
    });
  };
}

/** Makes the look-up of listed merchants. */
export function makeDirectories(db: Queryable): DirectoryOf {
  return makeVersions(db, loadDirectory, { nothing: EMPTY_DIRECTORY, sizeOf: ({ entries }) => entries.size });
}

/** Makes the look-up of answers. */
export function makeAnswers(db: Queryable): AnswersOf {
  return makeVersions(db, loadAnswers, { nothing: NO_ANSWERS, sizeOf: ({ answers }) => answers.size });
}

/** Makes the look-up of standing approvals. */
export function makeStandingApprovals(db: Queryable): StandingApprovalsOf {
  return makeVersions(db, loadStandingApprovals, {
    nothing: NO_STANDING_APPROVALS,
    sizeOf: ({ allowances }) => allowances.length * 2,
  });
}
