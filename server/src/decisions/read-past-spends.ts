import { addToRows, type CounterRow } from '../counters/counters.ts';
import { reachSeconds } from '../counters/windows.ts';
import type { Authority } from '../domain/authorities.ts';
import { countersOfAgent } from '../policy/counters.ts';
import { countedOfPast, newCounterIds, type PastSpends } from '../policy/past-spends.ts';
import type { Queryable } from '../storage/database.ts';
import { loadDecisionEvents } from '../storage/decision-events.ts';
import { listNewestDecisionIds, loadDecisionCores } from '../storage/decisions.ts';
import { readClock } from '../storage/workspaces.ts';
import { firstIdAt, timeOfId } from '../values/ids.ts';

/** How far is read. */
const BOUNDS = {
  /** The newest decisions of a window that are looked at. */
  decisions: 50_000,
  /** Slots that one change of an authority seals and writes. */
  slots: 10_000,
  at_once: 500,
};

/**
 * Reads what an agent's spends up to now come to in the limits over time that an authority has and the one before it had not;
 * null where there are none. The newest are read first: where they are too many, the result tells since when it counts.
 */
export async function readPastSpends(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  before: Authority | null,
  after: Authority,
  bounds = BOUNDS,
): Promise<PastSpends | null> {
  const counter_ids = newCounterIds(agent_id, before, after);
  if (counter_ids.length === 0) return null;
  const wanted = new Set(counter_ids);
  const reaches = [...countersOfAgent(after, agent_id).values()].flatMap(({ counter_id, window }) =>
    wanted.has(counter_id) ? reachSeconds(window) : [],
  );
  const now_ms = await readClock(db);
  const now = new Date(now_ms).toISOString();
  const from_ms = now_ms - Math.max(...reaches) * 1000;
  const span = { from_ms, to_ms: null, limit: bounds.decisions };
  const ids = await listNewestDecisionIds(db, workspace_id, agent_id, span);
  const counters = new Map<string, CounterRow>();
  let first = 0;
  for (let end = ids.length; end > 0; end = first) {
    first = Math.max(0, end - bounds.at_once);
    const records = await loadDecisionCores(db, workspace_id, ids.slice(first, end));
    const recorded = records.flatMap(({ decision, state }) => (state === null ? [] : decision.decision_id));
    const events = await loadDecisionEvents(db, workspace_id, recorded);
    for (const { decision } of records) {
      const of_decision = events.get(decision.decision_id) ?? [];
      for (const row of countedOfPast(after, wanted, decision, of_decision, now)) addToRows(counters, row);
    }
    if (counters.size > bounds.slots) break;
  }
  const is_cut = first > 0 || ids.length === bounds.decisions;
  const since_ms = is_cut ? timeOfId(ids[first] as string) : null;
  return {
    agent_id,
    counter_ids,
    counters: [...counters.values()],
    upto: ids.at(-1) ?? firstIdAt('decision', from_ms),
    counted_since: since_ms === null ? null : new Date(since_ms).toISOString(),
  };
}
