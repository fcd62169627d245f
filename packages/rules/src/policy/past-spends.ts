import type { Authority } from '@purser/contract/authority';
import { type CountedIn, changesIn } from '../counters/counted-in.ts';
import type { CounterRow } from '../counters/counters.ts';
import type { JoiningAuthority } from '../domain/authorities.ts';
import { countedIn, type DecisionState } from '../domain/decision-states.ts';
import type { DecisionCore } from '../domain/decisions.ts';
import { countersOf, countersOfAgent, standingsOf, withSlots } from './counters.ts';

/** Usage of an agent's decisions in the limits that an authority would add, as of an event of the chain. */
export interface PastSpends {
  agent_id: string;
  /** The version that the limits would be added to; null: the agent has no authority. */
  authority_version: number | null;
  /** The counters of these limits, those in which nothing counts included. */
  counter_ids: readonly string[];
  /** The usage of each slot. */
  counters: readonly CounterRow[];
  /** Each decision's share, by decision; decisions without one are omitted. */
  counted: ReadonlyMap<string, readonly CounterRow[]>;
  /** The versions that limits joined with before. */
  joining: readonly JoiningAuthority[];
  /** Decisions with smaller ids are not counted. */
  from: string;
  /** Set where older spends of the windows are not counted. */
  counted_since: string | null;
  /** Later events may be missing. */
  seq: number;
}

/** The counters that an authority has for an agent and the one before it had not. */
export function newCounterIds(agent_id: string, before: Authority | null, after: Authority): string[] {
  const idsOf = (authority: Authority) =>
    [...countersOfAgent(authority, agent_id).values()].map(({ counter_id }) => counter_id);
  const known = new Set(before === null ? [] : idsOf(before));
  return [...new Set(idsOf(after))].filter((id) => !known.has(id));
}

/** The slots that a decision would count in if an authority's limits with these counters had been there at its making. */
function slotsUnder(
  authority: Authority,
  counter_ids: ReadonlySet<string>,
  decision: DecisionCore,
): CountedIn[] {
  if (decision.currency !== authority.currency) return [];
  const all = countersOf(authority, decision.agent.id, decision.action);
  const counters = new Map([...all].filter(([, { counter_id }]) => counter_ids.has(counter_id)));
  if (counters.size === 0) return [];
  const empty = withSlots(counters, () => []);
  return countedIn({
    limits: standingsOf(empty, Date.parse(decision.created_at), { count: 0, amount_minor: 0 }),
  });
}

/**
 * The slots that a decision counts in by limits that joined after it was made, besides those of its making. `joining`: versions
 * of its agent's authority with which limits joined, in their order.
 */
export function joinedSlots(decision: DecisionCore, joining: readonly JoiningAuthority[]): CountedIn[] {
  const slots: CountedIn[] = [];
  for (const { version, authority, joined } of joining) {
    // It was made under this version or a later one, so these limits are among those of its making.
    if (version <= (decision.authority_version ?? 0)) continue;
    if (decision.decision_id < joined.from) continue;
    slots.push(...slotsNotYet(authority, joined.counter_ids, decision, slots));
  }
  return slots;
}

/** The slots under an authority in whose counters a decision does not count yet. */
function slotsNotYet(
  authority: Authority,
  counter_ids: Iterable<string>,
  decision: DecisionCore,
  joined: readonly CountedIn[],
): CountedIn[] {
  const wanted = new Set(counter_ids);
  for (const { counter_id } of [...(decision.reservation.limits ?? []), ...joined]) wanted.delete(counter_id);
  return slotsUnder(authority, wanted, decision);
}

/** The contribution of a decision in this state, at a time (ISO UTC), to counters that do not include it yet. */
export function countedOfPast(
  authority: Authority,
  past: Pick<PastSpends, 'counter_ids' | 'joining'>,
  { decision, state }: { decision: DecisionCore; state: DecisionState },
  now: string,
): CounterRow[] {
  const joined = joinedSlots(decision, past.joining);
  return changesIn(slotsNotYet(authority, past.counter_ids, decision, joined), null, state, now);
}
