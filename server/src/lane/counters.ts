import {
  addToRows,
  type CountedSlot,
  type CounterKey,
  type CounterRow,
  countedSlot,
  newestOf,
} from '../counters/counters.ts';

const nameOf = (counter_id: string, subject: string) => `${counter_id} ${subject}`;

/**
 * Counters in memory: the rows that were loaded, with what was added since, as in a batch by its commands. Only what is added
 * is written, so that a command which checks nothing need not load what it gives back to. The workspace's head is locked, so
 * nothing is added beside it.
 */
export class Counters {
  /** What is to be added to each slot. */
  readonly changes = new Map<string, CounterRow>();
  readonly #slots = new Map<string, Map<string, CountedSlot>>();

  constructor(rows: readonly CounterRow[]) {
    for (const row of rows) this.#slotsOf(row).set(row.slot, countedSlot(row));
  }

  /** The slots of a counter that was loaded; some of them may count no more. */
  slots({ counter_id, subject }: CounterKey): CountedSlot[] {
    return [...(this.#slots.get(nameOf(counter_id, subject))?.values() ?? [])];
  }

  /** What is in one slot. */
  slot(row: CounterKey & { slot: string }): CountedSlot | undefined {
    return this.#slots.get(nameOf(row.counter_id, row.subject))?.get(row.slot);
  }

  add(row: CounterRow): void {
    addToRows(this.changes, row);
    const slots = this.#slotsOf(row);
    const { until_ms, count, amount_minor, decision_id } = countedSlot(row);
    const before = slots.get(row.slot);
    slots.set(row.slot, {
      until_ms,
      count: (before?.count ?? 0) + count,
      amount_minor: (before?.amount_minor ?? 0) + amount_minor,
      decision_id: newestOf(decision_id, before?.decision_id ?? null),
    });
  }

  #slotsOf({ counter_id, subject }: CounterRow): Map<string, CountedSlot> {
    const name = nameOf(counter_id, subject);
    let slots = this.#slots.get(name);
    if (slots === undefined) {
      slots = new Map();
      this.#slots.set(name, slots);
    }
    return slots;
  }
}
