import { CLOCK_TOLERANCE_MS } from '../values/clock-tolerance.ts';

/** Which counter, and of what: every merchant or payee that is counted by itself is a subject; empty where all are one. */
export interface CounterKey {
  counter_id: string;
  subject: string;
}

/** A counter with its name, which is written once for all that look it up. */
export interface NamedCounter extends CounterKey {
  /** See `counterName`. */
  name: string;
}

/** The contents of one slot of a counter. Minor units of the currency that belongs to the counter. */
export interface CounterSlot {
  /** The start of the calendar window, or of the step of a rolling one. ISO UTC. */
  slot: string;
  /** From then on the slot counts no more. ISO UTC. */
  until: string;
  count: number;
  held_minor: number;
  committed_minor: number;
  /** The newest decision that was counted; null where nobody is told of it. */
  decision_id: string | null;
}

/** A row of `counters`, or what is added to one; numbers that are added may be negative. */
export type CounterRow = CounterKey & CounterSlot;

/** How much a counter holds at a moment. */
export interface CounterUse {
  count: number;
  amount_minor: number;
  /** The part of `amount_minor` that is held; omitted where it is not known. */
  held_minor?: number;
}

/** A slot with the moments from which it counts, and from which it counts no more; milliseconds since 1970 UTC. */
export interface CountedSlot extends CounterUse {
  starts_ms: number;
  until_ms: number;
  decision_id: string | null;
}

/** A slot of a counter that was loaded. */
export interface StoredSlot extends CountedSlot {
  /** ISO UTC. */
  slot: string;
}

/** A counter as it was loaded, with all slots that may count. Shared; it must not be changed. */
export interface StoredCounter extends NamedCounter {
  slots: readonly StoredSlot[];
}

/** Names a counter. */
export const counterName = ({ counter_id, subject }: CounterKey) => `${counter_id} ${subject}`;

/** A slot as the rules read it. */
export function storedSlot(row: CounterSlot): StoredSlot {
  return {
    slot: row.slot,
    starts_ms: Date.parse(row.slot),
    until_ms: Date.parse(row.until),
    count: row.count,
    amount_minor: row.held_minor + row.committed_minor,
    held_minor: row.held_minor,
    decision_id: row.decision_id,
  };
}

/**
 * Returns whether a slot counts at a moment: it has begun and not ended. A wrong clock can make a slot that begins in the
 * future. Such a slot counts if it begins within the tolerance of clocks.
 */
export function countsAt({ starts_ms, until_ms }: CountedSlot, now_ms: number): boolean {
  return until_ms > now_ms && starts_ms <= now_ms + CLOCK_TOLERANCE_MS;
}

/** The usage at a given time. The sum stays within the safe integers. */
export function useAt(slots: readonly CountedSlot[], now_ms: number): Required<CounterUse> {
  let count = 0;
  let amount_minor = 0;
  let held_minor = 0;
  for (const slot of slots) {
    if (!countsAt(slot, now_ms)) continue;
    count += slot.count;
    amount_minor = Math.min(amount_minor + slot.amount_minor, Number.MAX_SAFE_INTEGER);
    held_minor = Math.min(held_minor + (slot.held_minor ?? 0), Number.MAX_SAFE_INTEGER);
  }
  return { count, amount_minor, held_minor };
}

/**
 * The first moment from `now_ms` on at which what counts passes `fits`, if nothing is added meanwhile; null where it does not
 * even pass once nothing counts. Milliseconds since 1970 UTC.
 */
export function fitsFrom(
  slots: readonly CountedSlot[],
  now_ms: number,
  fits: (use: CounterUse) => boolean,
): number | null {
  const ends = slots.map(({ until_ms }) => until_ms).filter((until_ms) => until_ms > now_ms);
  const moments = [now_ms, ...new Set(ends.sort((a, b) => a - b))];
  return moments.find((at_ms) => fits(useAt(slots, at_ms))) ?? null;
}

/** The newer of two decisions, whose ids ascend; null where there is neither. */
export function newestOf(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one > other ? one : other;
}

/** Adds to the row of the same slot among rows by their slots. */
export function addToRows(rows: Map<string, CounterRow>, row: CounterRow): void {
  const name = `${row.counter_id} ${row.slot} ${row.subject}`;
  const before = rows.get(name);
  if (before === undefined) {
    rows.set(name, row);
    return;
  }
  rows.set(name, {
    ...row,
    count: before.count + row.count,
    held_minor: before.held_minor + row.held_minor,
    committed_minor: before.committed_minor + row.committed_minor,
    decision_id: newestOf(before.decision_id, row.decision_id),
  });
}
