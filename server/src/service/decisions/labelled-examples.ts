import type { Authority } from '@purser/contract/authority';
import type { Decision, SpendRequest } from '@purser/contract/decisions';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { loadAuthorityVersions, parseAuthority } from '../../engine/storage/authorities.ts';
import { AS_RECORDS } from '../../engine/storage/decisions.ts';
import { findDecisions } from '../../engine/storage/find-decisions.ts';
import { loadLabels } from '../../engine/storage/labels.ts';
import { exampleOf, type LabelledSpend } from '../model-judge/prompt.ts';

/** Returns spends of an agent that people labelled, for a model to go by. Never rejects. */
export type ExamplesOf = (
  workspace_id: string,
  agent_id: string,
  authority: Authority,
) => Promise<readonly LabelledSpend[]>;

const MAX_EXAMPLES = 6;
/** Labels that are looked at for the examples, so that those of another objective leave room. */
const MAX_LOOKED_AT = 24;
/** A minute in which what the model sees first stays the same, so that providers cache it. */
const KEPT_MS = 60_000;
const MAX_AGENTS = 5_000;

/** Words that mislead one judge may mislead the next, so a spend with such is no example. */
const isSuspicious = ({ purpose }: Decision) =>
  purpose.evidence.some(({ effect }) => effect === 'suspicious');

/** The request as the model would see it. */
const requestOf = ({ action, task }: Decision): SpendRequest => ({
  action,
  ...(task === null ? {} : { task }),
});

/**
 * Makes the reader of examples: the newest labels of the agent's spends under authorities with the same objective, oldest
 * first. They are read again after a minute. While the database does not answer there are none.
 */
export function makeLabelledExamples(options: { db: pg.Pool; now_ms: () => number }): ExamplesOf {
  const { db, now_ms } = options;
  const known = new LRUCache<string, Promise<readonly LabelledSpend[]>>({
    max: MAX_AGENTS,
    ttl: KEPT_MS,
    ttlResolution: 0,
    perf: { now: now_ms },
  });

  async function read(
    workspace_id: string,
    agent_id: string,
    authority: Authority,
  ): Promise<LabelledSpend[]> {
    const filters = { agent_id, labeled: true };
    const page = { order: 'desc', after: null, limit: MAX_LOOKED_AT } as const;
    const { rows } = await findDecisions(db, workspace_id, filters, page, AS_RECORDS);
    const versions = new Set(rows.flatMap(({ decision }) => decision.authority_version ?? []));
    const authorities = new Map(
      (await loadAuthorityVersions(db, workspace_id, agent_id, [...versions])).map((row) => [
        row.version,
        parseAuthority(row),
      ]),
    );
    const label_ids = rows.flatMap(({ state }) => state?.label_id ?? []);
    const labels = new Map(
      (await loadLabels(db, workspace_id, label_ids)).map(({ label_id, label }) => [label_id, label]),
    );
    return rows
      .flatMap(({ decision, state }) => {
        const label = labels.get(state?.label_id ?? '');
        const of = authorities.get(decision.authority_version ?? 0);
        if (label === undefined || of === undefined || isSuspicious(decision)) return [];
        if (of.purpose.objective !== authority.purpose.objective) return [];
        return [exampleOf(of, requestOf(decision), label)];
      })
      .slice(0, MAX_EXAMPLES)
      .reverse();
  }

  return (workspace_id, agent_id, authority) => {
    const key = `${agent_id} ${authority.purpose.objective}`;
    const cached = known.get(key);
    if (cached !== undefined) return cached;
    const reading = read(workspace_id, agent_id, authority).catch(() => {
      known.delete(key);
      return [];
    });
    known.set(key, reading);
    return reading;
  };
}
