import type { Authority } from '@purser/contract/authority';
import { addToRows, type CounterRow } from '@purser/rules/counters/counters';
import { reachSeconds } from '@purser/rules/counters/windows';
import type { Agent } from '@purser/rules/domain/agents';
import { initialState } from '@purser/rules/domain/decision-states';
import { countersOfAgent } from '@purser/rules/policy/counters';
import { countedOfPast, newCounterIds, type PastSpends } from '@purser/rules/policy/past-spends';
import { firstIdAt, timeOfId } from '@purser/rules/values/ids';
import { loadAuthoritiesOf, loadJoiningAuthorities } from '../../engine/storage/authorities.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { listNewestDecisionIds, loadDecisionCores } from '../../engine/storage/decisions.ts';
import { getHead } from '../../engine/storage/ledger.ts';
import { readClock } from '../../engine/storage/workspaces.ts';

/** How far is read. */
const BOUNDS = {
  /** The newest decisions of a window that are looked at. */
  decisions: 50_000,
  /** Slots that one change of an authority seals and writes. */
  slots: 10_000,
  at_once: 500,
};

/**
 * Reads what an agent's spends up to now come to in the limits over time that an authority has and the current one has not;
 * null where there are none. The newest are read first: where they are too many, the result says since when it counts.
 */
export async function readPastSpends(
  db: Queryable,
  workspace_id: string,
  agent: Pick<Agent, 'agent_id' | 'authority_version' | 'authority_hash'>,
  after: Authority,
  bounds = BOUNDS,
): Promise<PastSpends | null> {
  const { agent_id, authority_version } = agent;
  const before = (await loadAuthoritiesOf(db, workspace_id, [agent])).get(agent_id) ?? null;
  const counter_ids = newCounterIds(agent_id, before, after);
  if (counter_ids.length === 0) return null;
  const reaches = [...countersOfAgent(after, agent_id).values()].flatMap(({ counter_id, window }) =>
    counter_ids.includes(counter_id) ? reachSeconds(window) : [],
  );
  const now_ms = await readClock(db);
  const now = new Date(now_ms).toISOString();
  // Before any decision is read, so that whatever is missed is recorded after it.
  const seq = (await getHead(db, workspace_id))?.seq ?? 0;
  const joining = await loadJoiningAuthorities(db, workspace_id, agent_id);
  const from_ms = now_ms - Math.max(...reaches) * 1000;
  const span = { from_ms, to_ms: null, limit: bounds.decisions };
  const ids = await listNewestDecisionIds(db, workspace_id, agent_id, span);
  const counters = new Map<string, CounterRow>();
  const counted = new Map<string, CounterRow[]>();
  let first = 0;
  for (let end = ids.length; end > 0; end = first) {
    first = Math.max(0, end - bounds.at_once);
    for (const { decision, state } of await loadDecisionCores(db, workspace_id, ids.slice(first, end))) {
      const record = { decision, state: state ?? initialState(decision) };
      const rows = countedOfPast(after, { counter_ids, joining }, record, now);
      if (rows.length > 0) counted.set(decision.decision_id, rows);
      for (const row of rows) addToRows(counters, row);
    }
    if (counters.size > bounds.slots) break;
  }
  const is_cut = first > 0 || ids.length === bounds.decisions;
  const from = is_cut ? (ids[first] as string) : firstIdAt('decision', from_ms);
  const since_ms = is_cut ? timeOfId(from) : null;
  return {
    agent_id,
    authority_version,
    counter_ids,
    counters: [...counters.values()],
    counted,
    joining,
    from,
    counted_since: since_ms === null ? null : new Date(since_ms).toISOString(),
    seq,
  };
}
