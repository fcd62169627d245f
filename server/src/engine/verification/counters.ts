import { createHash } from 'node:crypto';
import { type CountedIn, changesIn, counterChanges } from '@purser/rules/counters/counted-in';
import { type CounterRow, newestOf } from '@purser/rules/counters/counters';
import type { AuthorityRow, JoiningAuthority } from '@purser/rules/domain/authorities';
import { apply, beginHistory, type PlacedEvent } from '@purser/rules/domain/decision-history';
import { countedByNew } from '@purser/rules/domain/decision-states';
import type { DecisionCore } from '@purser/rules/domain/decisions';
import { duplicateSubjects } from '@purser/rules/policy/counters';
import { joinedSlots } from '@purser/rules/policy/past-spends';
import { pushTo } from '@purser/rules/values/maps';
import { joiningOf } from '../storage/authorities.ts';
import type { Queryable } from '../storage/database.ts';
import { loadDecisionEvents } from '../storage/decision-events.ts';
import { loadDecisionCores } from '../storage/decisions.ts';
import {
  type CounterSum,
  findLastCounted,
  listCountersOfSums,
  listDecisionsWithLimits,
  listJoinings,
  listPrimed,
  loadSeqOfDecisions,
  sumCounters,
} from '../storage/derived/counter-checks.ts';
import type { Findings } from './findings.ts';

/**
 * Sums of all decisions over the slots whose keys have the same hash. There are few of them, however many slots there
 * are. Each slot counts in its sum with a weight of its own, so that no amount can be moved unseen between two slots.
 */
export class CounterSums {
  readonly #until: string;
  readonly #sums = new Map<number, CounterSum>();

  /** Slots count where they still do at `now_ms`: those before may have been swept. */
  constructor(now_ms: number) {
    this.#until = new Date(now_ms).toISOString();
  }

  /** From when on slots are compared. ISO UTC. */
  get until(): string {
    return this.#until;
  }

  add(rows: readonly CounterRow[]): void {
    for (const row of rows) {
      if (row.until <= this.#until) continue;
      const { sum: name, weight } = placeOf(row);
      const sum = this.#sums.get(name) ?? { count: 0n, held: 0n, committed: 0n };
      this.#sums.set(name, {
        count: sum.count + weight * BigInt(row.count),
        held: sum.held + weight * BigInt(row.held_minor),
        committed: sum.committed + weight * BigInt(row.committed_minor),
      });
    }
  }

  /** The names of the sums that differ. */
  differing(live: ReadonlyMap<number, CounterSum>): number[] {
    const names = new Set([...this.#sums.keys(), ...live.keys()]);
    return [...names].filter((name) => !isSame(this.#sums.get(name), live.get(name))).sort((a, b) => a - b);
  }
}

const NOTHING: CounterSum = { count: 0n, held: 0n, committed: 0n };

function isSame(one: CounterSum = NOTHING, other: CounterSum = NOTHING): boolean {
  return one.count === other.count && one.held === other.held && one.committed === other.committed;
}

/** The key of a slot as text; `COUNTER_KEY` writes the same in SQL. */
function keyOf({ counter_id, subject, slot, until }: CountedIn): string {
  // Timestamps of the database have microseconds, ours have none.
  return `${counter_id} ${slot.slice(0, -1)}000Z ${until.slice(0, -1)}000Z ${subject}`;
}

/** The sum that a slot counts in, and its weight there, as `sumCounters` has them. */
function placeOf(row: CountedIn): { sum: number; weight: bigint } {
  const hash = createHash('sha256').update(keyOf(row)).digest();
  return { sum: hash.readUInt16BE(0) >> 4, weight: BigInt(hash.readUInt32BE(2)) };
}

/** By agent: the versions of its authority with which limits joined. */
export type JoiningByAgent = ReadonlyMap<string, readonly JoiningAuthority[]>;

/**
 * Loads the limits that joined, as the audit records seal them: the rows of authorities are compared with these on their own. A
 * record that cannot be read is left out, since it is found as altered.
 */
export async function loadJoining(db: Queryable, workspace_id: string): Promise<JoiningByAgent> {
  const by_agent = new Map<string, JoiningAuthority[]>();
  for (const { state } of await listJoinings(db, workspace_id)) {
    try {
      const { authority } = JSON.parse(state) as { authority: AuthorityRow };
      for (const version of joiningOf([authority])) pushTo(by_agent, authority.agent_id, version);
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
    }
  }
  return by_agent;
}

/**
 * The contributions of a decision and its records to counters, in order. Earlier usage in limits that joined is in
 * their audit records. Throws where a record cannot be applied.
 */
export function countersOfDecision(
  decision: DecisionCore,
  events: readonly PlacedEvent[],
  joining: JoiningByAgent,
): CounterRow[] {
  const versions = joining.get(decision.agent.id) ?? [];
  if (decision.reservation.limits === undefined && versions.length === 0) return [];
  let history = beginHistory(decision);
  const made_at = madeAt(decision);
  const rows = made_at === null ? [] : counterChanges(null, history.state, made_at);
  for (const { event, place } of events) {
    const before = history.state;
    history = apply(history, event);
    const earlier = versions.filter(({ joined }) => joined.place < place);
    rows.push(
      ...counterChanges(before, history.state, event.at),
      ...changesIn(joinedSlots(decision, earlier), before, history.state, event.at),
    );
  }
  return rows;
}

/** A decision counts at once in slots that begin at or before it, so the earliest of them will do; null: it counts in none. */
function madeAt({ reservation }: DecisionCore): string | null {
  return reservation.limits?.[0]?.window.starts_at ?? null;
}

/** The contributions of a decision without records. */
export function countersOfUnchanged(decision: DecisionCore): CounterRow[] {
  return countedByNew(decision, madeAt(decision) ?? '');
}

/** Differing sums are looked at one by one up to this many, so that memory does not grow with them. */
const MAX_SUMS_NAMED = 16;
const DECISIONS_AT_ONCE = 500;

/** A slot as its decisions make it. */
interface ExpectedSlot extends CounterRow {
  /** The newest decision that counts in it, or the event that its first content was recorded with. */
  newest: string | { seq: number };
}

/**
 * Reports slots of counters that are not the sum of what their decisions count. Sums of many slots are compared first; only
 * where one differs, everything that counts in it is added up again, slot by slot. Memory does not grow with the history.
 */
export async function checkCounters(
  db: Queryable,
  workspace_id: string,
  sums: CounterSums,
  last_seq: number,
  findings: Findings,
): Promise<void> {
  const live = await sumCounters(db, workspace_id, sums.until);
  const wrong = sums.differing(live);
  const misnamed = await findLastCounted(db, workspace_id, sums.until, isCountedBy(db, workspace_id));
  const looked_at = [...new Set([...wrong, ...misnamed.map((row) => placeOf(row).sum)])].slice(
    0,
    MAX_SUMS_NAMED,
  );
  if (looked_at.length === 0) return;
  const expected = await expectedSlots(db, workspace_id, sums.until, new Set(looked_at));
  const found = await listCountersOfSums(db, workspace_id, sums.until, looked_at);
  const different: { slot: ExpectedSlot; what: string }[] = [];
  let orphans = 0;
  for (const row of found) {
    const name = keyOf(row);
    const slot = expected.get(name);
    expected.delete(name);
    const shown = `The row of counter ${row.counter_id} ${row.subject}`.trimEnd();
    if (slot === undefined) {
      if (row.count === 0 && row.held_minor === 0 && row.committed_minor === 0) continue;
      orphans += 1;
      findings.addOrphan(`${shown} from ${row.slot} is in no event.`);
    } else if (!isSameSlot(slot, row)) {
      const { count, held_minor, committed_minor } = slot;
      const what = `${shown} from ${row.slot} is not the sum of its decisions: ${count} with ${held_minor} held and ${committed_minor} committed.`;
      different.push({ slot, what });
    }
  }
  for (const slot of expected.values()) {
    if (slot.count === 0 && slot.held_minor === 0 && slot.committed_minor === 0) continue;
    const what = `The row of counter ${`${slot.counter_id} ${slot.subject}`.trimEnd()} from ${slot.slot} is gone.`;
    different.push({ slot, what });
  }
  const newest = different.flatMap(({ slot }) => (typeof slot.newest === 'string' ? [slot.newest] : []));
  const seqs = await loadSeqOfDecisions(db, workspace_id, newest);
  for (const { slot, what } of different) {
    const seq = typeof slot.newest === 'string' ? (seqs.get(slot.newest) ?? last_seq) : slot.newest.seq;
    findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail: what });
  }
  if ((wrong.length > 0 && different.length + orphans === 0) || wrong.length > MAX_SUMS_NAMED) {
    const detail = 'Rows of counters are not the sums of their decisions.';
    findings.addDerived({ seq: last_seq, kind: 'ROW_MISMATCH', detail });
  }
}

function isSameSlot(slot: ExpectedSlot, row: CounterRow): boolean {
  return (
    slot.count === row.count &&
    slot.held_minor === row.held_minor &&
    slot.committed_minor === row.committed_minor &&
    slot.decision_id === row.decision_id
  );
}

/** Tells of each row whether the decision that it names as the newest one counts in it. */
function isCountedBy(db: Queryable, workspace_id: string) {
  return async (rows: readonly CounterRow[]): Promise<boolean[]> => {
    const ids = rows.flatMap(({ decision_id }) => (decision_id === null ? [] : [decision_id]));
    const records = await loadDecisionCores(db, workspace_id, ids);
    const decisions = new Map(records.map(({ decision }) => [decision.decision_id, decision]));
    return rows.map((row) => {
      if (row.decision_id === null) return row.count === 0;
      const decision = decisions.get(row.decision_id);
      if (decision === undefined) return false;
      const { created_at: made_at } = decision;
      return (
        duplicateSubjects(decision.action).includes(row.subject) && row.slot <= made_at && made_at < row.until
      );
    });
  };
}

/** Adds up what all decisions count in the slots of these sums. */
async function expectedSlots(
  db: Queryable,
  workspace_id: string,
  until: string,
  sums: ReadonlySet<number>,
): Promise<Map<string, ExpectedSlot>> {
  const slots = new Map<string, ExpectedSlot>();
  const add = (row: CounterRow, newest: ExpectedSlot['newest']) => {
    if (row.until <= until || !sums.has(placeOf(row).sum)) return;
    const before = slots.get(keyOf(row));
    slots.set(keyOf(row), {
      ...row,
      count: row.count + (before?.count ?? 0),
      held_minor: row.held_minor + (before?.held_minor ?? 0),
      committed_minor: row.committed_minor + (before?.committed_minor ?? 0),
      decision_id: newestOf(row.decision_id, before?.decision_id ?? null),
      newest: typeof newest === 'object' && before !== undefined ? before.newest : newest,
    });
  };
  for (const { seq, rows } of await listPrimed(db, workspace_id)) for (const row of rows) add(row, { seq });
  const joining = await loadJoining(db, workspace_id);
  const agents = [...joining.keys()];
  for (let after = ''; ; ) {
    const ids = await listDecisionsWithLimits(db, workspace_id, agents, { after, limit: DECISIONS_AT_ONCE });
    const [records, events] = await Promise.all([
      loadDecisionCores(db, workspace_id, ids),
      loadDecisionEvents(db, workspace_id, ids),
    ]);
    const by_id = new Map(records.map(({ decision }) => [decision.decision_id, decision]));
    for (const id of ids) {
      const decision = by_id.get(id);
      if (decision === undefined) continue;
      for (const row of countersOfDecision(decision, events.get(id) ?? [], joining)) add(row, id);
    }
    const last = ids.at(-1);
    if (last === undefined || ids.length < DECISIONS_AT_ONCE) return slots;
    after = last;
  }
}
