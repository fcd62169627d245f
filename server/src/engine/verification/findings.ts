import type { LedgerBreak } from '@purser/rules/domain/ledger';

/** Only the first breaks of a history that is broken everywhere are reported. */
const MAX_BREAKS = 1_000;

/** Collects the findings of a verification, at most 1,000 of each kind. */
export interface Findings {
  /** Adds a changed link, signed head or sealed row. */
  add(found: LedgerBreak): void;
  /**
   * Adds a derived row that differs from its records. After the first break of the history the right content of derived
   * rows is unknown, so such a finding is never reported at an event before that break.
   */
  addDerived(found: LedgerBreak): void;
  /**
   * Adds a row without an event; it is reported at the end of the chain, where its event is missing. `is_record` says
   * that states are derived from it; their findings are then not reported at an earlier event either.
   */
  addOrphan(detail: string, is_record?: boolean): void;
  /** Returns whether all links, signed heads and sealed rows were intact so far. */
  soFarIntact(): boolean;
  /** Returns the findings in the order of the chain; `last_seq` is its last event. */
  breaks(last_seq: number): LedgerBreak[];
}

/** Makes the empty findings of one verification. */
export function makeFindings(): Findings {
  const direct: LedgerBreak[] = [];
  const derived: LedgerBreak[] = [];
  const orphans: string[] = [];
  let has_orphan_records = false;
  let first = Number.POSITIVE_INFINITY;
  /** Keeps those with the lowest `seq`: pages are checked concurrently, so findings do not arrive in order. */
  const keepFirst = (list: LedgerBreak[], found: LedgerBreak) => {
    list.push(found);
    if (list.length < 2 * MAX_BREAKS) return;
    list.sort((a, b) => a.seq - b.seq);
    list.length = MAX_BREAKS;
  };
  return {
    add(found) {
      // A `seq` beyond the safe integers sorts after all others.
      const seq = Number.isSafeInteger(found.seq) ? Math.max(0, found.seq) : Number.MAX_SAFE_INTEGER;
      first = Math.min(first, seq);
      keepFirst(direct, { ...found, seq });
    },
    addDerived: (found) => keepFirst(derived, found),
    addOrphan(detail, is_record = false) {
      has_orphan_records ||= is_record;
      if (orphans.length < MAX_BREAKS) orphans.push(detail);
    },
    soFarIntact: () => first === Number.POSITIVE_INFINITY,
    breaks(last_seq) {
      const end = first === Number.POSITIVE_INFINITY ? last_seq : Math.max(last_seq, first);
      const from = has_orphan_records ? Math.min(end, first) : first;
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
