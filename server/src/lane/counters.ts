import {
  type CountedSlot,
  type CounterKey,
  type CounterRow,
  counterName,
  newestOf,
  type StoredCounter,
  type StoredSlot,
  storedSlot,
} from '../counters/counters.ts';

/** Whether nothing was cut off: a loaded slot tells of no more than the largest number. */
export const isExact = (slots: readonly CountedSlot[]) =>
  slots.every(({ amount_minor }) => amount_minor < Number.MAX_SAFE_INTEGER);

/** A counter in memory. */
interface Counter {
  key: CounterKey;
  /** Shared with who loaded them until something is added. */
  slots: readonly StoredSlot[];
  /** The same slots once they are its own; */
  own: StoredSlot[] | null;
  /** Otherwise there is in `slots` only what was added here. */
  is_loaded: boolean;
  /** What is to be added to each slot. */
  changes: CounterRow[];
}

/**
 * Counters in memory: those that were loaded, with what was added since, as in a batch by its commands. Only what is added
 * is written, so that a command which checks nothing need not load what it gives back to. The workspace's head is locked, so
 * nothing is added beside it.
 */
export class Counters {
  /** By name. */
  readonly #counters = new Map<string, Counter>();
  readonly #changed = new Set<Counter>();

  /** What is given of one counter in several places is taken together. */
  constructor(stored: readonly StoredCounter[]) {
    for (const { counter_id, subject, slots } of stored) {
      const counter = this.#counter({ counter_id, subject });
      counter.is_loaded = true;
      const others = counter.slots.filter(({ slot }) => !slots.some((each) => each.slot === slot));
      counter.slots = others.length === 0 ? slots : [...others, ...slots];
    }
  }

  /** The slots of a counter that was loaded, as they are until something is added; some of them may count no more. */
  slots(key: CounterKey): readonly CountedSlot[] {
    return this.#counters.get(counterName(key))?.slots ?? [];
  }

  /** What is in one slot. */
  slot(row: CounterKey & { slot: string }): CountedSlot | undefined {
    return this.#counters.get(counterName(row))?.slots.find(({ slot }) => slot === row.slot);
  }

  /** What is to be added to each slot. */
  changes(): CounterRow[] {
    return [...this.#changed].flatMap(({ changes }) => changes);
  }

  /** The counters that were added to and of which all is known: with the slots that still count at a moment. */
  knownAfter(now_ms: number): StoredCounter[] {
    return [...this.#changed].flatMap(({ key, slots, is_loaded }) =>
      is_loaded && isExact(slots) ? { ...key, slots: slots.filter(({ until_ms }) => until_ms > now_ms) } : [],
    );
  }

  /** The other counters that were added to. */
  unknownAfter(): CounterKey[] {
    return [...this.#changed].flatMap(({ key, slots, is_loaded }) =>
      is_loaded && isExact(slots) ? [] : key,
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
    const added = storedSlot(row);
    const at = counter.own.findLastIndex(({ slot }) => slot === row.slot);
    const before = counter.own[at];
    if (before === undefined) counter.own.push(added);
    else {
      added.count += before.count;
      added.amount_minor += before.amount_minor;
      added.decision_id = newestOf(added.decision_id, before.decision_id);
      counter.own[at] = added;
    }
  }

  #counter({ counter_id, subject }: CounterKey): Counter {
    const name = counterName({ counter_id, subject });
    let counter = this.#counters.get(name);
    if (counter === undefined) {
      counter = { key: { counter_id, subject }, slots: [], own: null, is_loaded: false, changes: [] };
      this.#counters.set(name, counter);
    }
    return counter;
  }
}
