import { counterChanges } from '../counters/counted-in.ts';
import type { CounterRow } from '../counters/counters.ts';
import type { Authority } from '../domain/authorities.ts';
import { beginHistory, foldHistory, type PlacedEvent } from '../domain/decision-history.ts';
import type { DecisionCore } from '../domain/decisions.ts';
import { timeOfId } from '../values/ids.ts';
import { countersOf, countersOfAgent, standingsOf, withSlots } from './counters.ts';

/** What the spends before a new limit come to in its counters. */
export interface PastSpends {
  agent_id: string;
  /** The counters that are told of; those of which nothing is counted included. */
  counter_ids: readonly string[];
  /** What counts in each slot. */
  counters: readonly CounterRow[];
  /** Decisions with greater ids are not in it. */
  upto: string;
  /** Set where older spends of the windows are not in it. */
  counted_since: string | null;
}

/** The counters that an authority has for an agent and the one before it had not. */
export function newCounterIds(agent_id: string, before: Authority | null, after: Authority): string[] {
  const known = new Set(
    before === null
      ? []
      : [...countersOfAgent(before, agent_id).values()].map(({ counter_id }) => counter_id),
  );
  const ids = [...countersOfAgent(after, agent_id).values()].map(({ counter_id }) => counter_id);
  return [...new Set(ids)].filter((id) => !known.has(id));
}

/**
 * What a decision would count at a moment (ISO UTC) in these counters of an authority, if it had counted in them when it was
 * made. `events`: what was recorded of it, in the order of the ledger.
 */
export function countedOfPast(
  authority: Authority,
  counter_ids: ReadonlySet<string>,
  decision: DecisionCore,
  events: readonly PlacedEvent[],
  now: string,
): CounterRow[] {
  const made_ms = timeOfId(decision.decision_id);
  if (made_ms === null || decision.currency !== authority.currency) return [];
  const all = countersOf(authority, decision.agent.id, decision.action);
  const counters = new Map([...all].filter(([, { counter_id }]) => counter_ids.has(counter_id)));
  if (counters.size === 0) return [];
  const empty = withSlots(counters, () => []);
  const limits = standingsOf(empty, made_ms, { count: 0, amount_minor: 0 });
  const counted = { ...decision, reservation: { ...decision.reservation, limits } };
  const { state } =
    events.length === 0
      ? beginHistory(counted)
      : foldHistory(
          counted,
          events.map(({ event }) => event),
        );
  return counterChanges(null, state, now);
}

/** What is missing in a slot: nothing where it counts as much already. */
export function missingIn(
  slot: { count: number; amount_minor: number } | undefined,
  wanted: CounterRow,
): CounterRow | null {
  const count = Math.max(0, wanted.count - (slot?.count ?? 0));
  const minor = wanted.held_minor + wanted.committed_minor - (slot?.amount_minor ?? 0);
  const committed_minor = Math.max(0, Math.min(minor, Number.MAX_SAFE_INTEGER));
  return count === 0 && committed_minor === 0 ? null : { ...wanted, count, held_minor: 0, committed_minor };
}
