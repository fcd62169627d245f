import type { LedgerBreak } from '../domain/ledger.ts';

/** A history that is broken everywhere is reported by its first breaks. */
const MAX_BREAKS = 1_000;

/** Gathers what verification finds; never more than 1,000 breaks of a kind of finding. */
export interface Findings {
  /** A link, a signed head or a sealed row that is not what it was. */
  add(found: LedgerBreak): void;
  /**
   * A row that changes, and is not what its records say. From the first break of the history on nobody can tell what
   * such a row should be, so it is not blamed on an earlier event.
   */
  addDerived(found: LedgerBreak): void;
  /**
   * A row that no event made: reported where its event is missing, at the end of the chain. With `is_record` it is
   * one that states are made from, which then are not blamed on an earlier event either.
   */
  addOrphan(detail: string, is_record?: boolean): void;
  /** Whether links, signed heads and sealed rows are all as they were so far. */
  soFarIntact(): boolean;
  /** All that was found, in the order of the chain. `last_seq`: where the chain ends. */
  breaks(last_seq: number): LedgerBreak[];
}

/** Findings of one verification. */
export function makeFindings(): Findings {
  const direct: LedgerBreak[] = [];
  const derived: LedgerBreak[] = [];
  const orphans: string[] = [];
  let has_stray_records = false;
  let first = Number.POSITIVE_INFINITY;
  /** Pages of the chain are checked at the same time, so that what is found first need not be the first. */
  const keepFirst = (list: LedgerBreak[], found: LedgerBreak) => {
    list.push(found);
    if (list.length < 2 * MAX_BREAKS) return;
    list.sort((a, b) => a.seq - b.seq);
    list.length = MAX_BREAKS;
  };
  return {
    add(found) {
      // A place that is no number of ours is after all others.
      const seq = Number.isSafeInteger(found.seq) ? Math.max(0, found.seq) : Number.MAX_SAFE_INTEGER;
      first = Math.min(first, seq);
      keepFirst(direct, { ...found, seq });
    },
    addDerived: (found) => keepFirst(derived, found),
    addOrphan(detail, is_record = false) {
      has_stray_records ||= is_record;
      if (orphans.length < MAX_BREAKS) orphans.push(detail);
    },
    soFarIntact: () => first === Number.POSITIVE_INFINITY,
    breaks(last_seq) {
      const end = first === Number.POSITIVE_INFINITY ? last_seq : Math.max(last_seq, first);
      const from = has_stray_records ? Math.min(end, first) : first;
      const all = [
        ...direct,
        ...derived.map((found) =>
          from === Number.POSITIVE_INFINITY ? found : { ...found, seq: Math.max(found.seq, from) },
        ),
        ...orphans.map((detail): LedgerBreak => ({ seq: end, kind: 'ROW_MISMATCH', detail })),
      ];
      return all.sort((a, b) => a.seq - b.seq).slice(0, MAX_BREAKS);
    },
  };
}
