import { valueIn } from '../values/maps.ts';
import {
  type CountedSlot,
  type CounterKey,
  type CounterRow,
  counterName,
  newestOf,
  type StoredCounter,
  type StoredSlot,
  storedSlot,
} from './counters.ts';

/** True if nothing was cut off: a loaded slot tells of no more than the largest number. */
export const isExact = (slots: readonly CountedSlot[]) =>
  slots.every(({ amount_minor }) => amount_minor < Number.MAX_SAFE_INTEGER);

/** A counter in memory. */
interface Counter {
  key: CounterKey;
  /** Null: it was not loaded, and there is in `slots` only what was added here. */
  name: string | null;
  /** Shared with who loaded them until something is added. */
  slots: readonly StoredSlot[];
  /** The same slots once they are its own. */
  own: StoredSlot[] | null;
  /** The change of each slot. */
  changes: CounterRow[];
}

/**
 * Counters in memory: those that were loaded, with what was added since, as in a batch by its commands. Only what is added
 * is written, so that a command which checks nothing need not load what it gives back to. The workspace's head is locked, so
 * nothing is added beside it.
 */
export class Counters {
  /** By id and by subject: texts that were looked up before, where the name would have to be put together each time. */
  readonly #counters = new Map<string, Map<string, Counter>>();
  readonly #changed = new Set<Counter>();

  /** Merges duplicate entries of one counter. */
  constructor(stored: readonly StoredCounter[]) {
    for (const { counter_id, subject, name, slots } of stored) {
      const counter = this.#counter({ counter_id, subject });
      const others = counter.slots.filter(({ slot }) => !slots.some((each) => each.slot === slot));
      counter.name = name;
      counter.slots = others.length === 0 ? slots : [...others, ...slots];
    }
  }

  /** The slots of a counter that was loaded, as they are until something is added; some of them may count no more. */
  slots(key: CounterKey): readonly CountedSlot[] {
    return this.#find(key)?.slots ?? [];
  }

  /** The contents of one slot. */
  slot(row: CounterKey & { slot: string }): CountedSlot | undefined {
    return this.#find(row)?.slots.find(({ slot }) => slot === row.slot);
  }

  /** The change of each slot. */
  changes(): CounterRow[] {
    return [...this.#changed].flatMap(({ changes }) => changes);
  }

  /** The counters that were added to and of which all is known: with the slots that still count at a moment. */
  knownAfter(now_ms: number): StoredCounter[] {
    const known: StoredCounter[] = [];
    for (const { key, name, slots } of this.#changed) {
      if (name === null || !isExact(slots)) continue;
      const { counter_id, subject } = key;
      known.push({ counter_id, subject, name, slots: slots.filter(({ until_ms }) => until_ms > now_ms) });
    }
    return known;
  }

  /** The names of the other counters that were added to. */
  namesToInvalidate(): string[] {
    return [...this.#changed].flatMap(({ key, name, slots }) =>
      name !== null && isExact(slots) ? [] : counterName(key),
    );
  }

  add(row: CounterRow): void {
    const counter = this.#counter(row);
    this.#changed.add(counter);
    const { changes } = counter;
    const change = changes.findLast(({ slot }) => slot === row.slot);
    if (change === undefined) changes.push({ ...row });
    else {
      change.count += row.count;
      change.held_minor += row.held_minor;
      change.committed_minor += row.committed_minor;
      change.decision_id = newestOf(change.decision_id, row.decision_id);
    }
    counter.own ??= [...counter.slots];
    counter.slots = counter.own;
    const at = counter.own.findLastIndex(({ slot }) => slot === row.slot);
    const before = counter.own[at];
    if (before === undefined) counter.own.push(storedSlot(row));
    else {
      counter.own[at] = {
        slot: before.slot,
        starts_ms: before.starts_ms,
        until_ms: before.until_ms,
        count: before.count + row.count,
        amount_minor: before.amount_minor + row.held_minor + row.committed_minor,
        held_minor: (before.held_minor ?? 0) + row.held_minor,
        decision_id: newestOf(row.decision_id, before.decision_id),
      };
    }
  }

  #find({ counter_id, subject }: CounterKey): Counter | undefined {
    return this.#counters.get(counter_id)?.get(subject);
  }

  #counter(key: CounterKey): Counter {
    const of_subjects = valueIn(this.#counters, key.counter_id, () => new Map<string, Counter>());
    return valueIn(of_subjects, key.subject, () => {
      const { counter_id, subject } = key;
      return { key: { counter_id, subject }, name: null, slots: [], own: null, changes: [] };
    });
  }
}
