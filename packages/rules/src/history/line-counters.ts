import type { CountedSlot } from '../counters/counters.ts';
import { slotAt } from '../counters/windows.ts';
import type { CountersOf, SpendCounter } from '../policy/counters.ts';

/** Counters over lines that come in the order of time: what counts no more is dropped, so each look-up is short. */
export class LineCounters {
  readonly #slots = new Map<string, CountedSlot[]>();

  /** The slots of a counter that count at a moment, or later. */
  slots({ name }: SpendCounter, now_ms: number): readonly CountedSlot[] {
    const slots = this.#slots.get(name);
    if (slots === undefined) return [];
    let past = 0;
    while (past < slots.length && (slots[past] as CountedSlot).until_ms <= now_ms) past += 1;
    if (past > 0) slots.splice(0, past);
    return slots;
  }

  /** Counts a spend in all counters that it is not only judged by. */
  add(counters: CountersOf<SpendCounter>, amount_minor: number, now_ms: number): void {
    for (const counter of counters.values()) {
      if (counter.is_read_only) continue;
      const { starts_ms, ends_ms: until_ms } = slotAt(counter.window, now_ms);
      const slots = this.#slots.get(counter.name) ?? [];
      const last = slots.at(-1);
      if (last?.starts_ms === starts_ms) {
        slots[slots.length - 1] = {
          ...last,
          count: last.count + 1,
          amount_minor: Math.min(last.amount_minor + amount_minor, Number.MAX_SAFE_INTEGER),
        };
      } else slots.push({ starts_ms, until_ms, count: 1, amount_minor, decision_id: null });
      this.#slots.set(counter.name, slots);
    }
  }
}
