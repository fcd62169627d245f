import type { CounterKey, CounterRow } from './counters.ts';

/** A slot that a decision counts in. */
export interface CountedIn extends CounterKey {
  slot: string;
  until: string;
}

/** The fields of a decision's state that tell what it counts for. */
export interface CountingState {
  decision_id: string;
  reservation_status: string;
  /** What is held, or was spent and not refunded. */
  amount_minor: number;
  /** The slots as text, see `encodeCountedIn`; null: it counts in no counter. */
  counted_in: string | null;
  /** What is held, or was spent, refunded or not; null exactly where `counted_in` is. */
  paced_minor: number | null;
}

/** Counters that hold the pace of spending: what was refunded was spent all the same. */
const OF_PACE = /^(vel|dup)_/;
/** Counters of which one is told who was counted last. */
const TELLS_LAST = /^dup_/;

/** The slots that a decision counts in, as they are stored with its state; null where there are none. */
export function encodeCountedIn(counted: readonly CountedIn[]): string | null {
  if (counted.length === 0) return null;
  return JSON.stringify(
    counted.map(({ counter_id, subject, slot, until }) => [counter_id, subject, slot, until]),
  );
}

/** The slots that were stored with a state. Throws SyntaxError where the text is none that was. */
function decodeCountedIn(text: string | null): CountedIn[] {
  if (text === null) return [];
  return (JSON.parse(text) as [string, string, string, string][]).map(
    ([counter_id, subject, slot, until]) => ({ counter_id, subject, slot, until }),
  );
}

/** What a state counts for in one counter. */
function impactOn(
  counter_id: string,
  state: Omit<CountingState, 'counted_in'> | null,
): { count: number; held_minor: number; committed_minor: number } {
  const status = state?.reservation_status;
  if (state === null || (status !== 'HELD' && status !== 'COMMITTED')) {
    return { count: 0, held_minor: 0, committed_minor: 0 };
  }
  const minor = OF_PACE.test(counter_id) ? (state.paced_minor ?? state.amount_minor) : state.amount_minor;
  return status === 'HELD'
    ? { count: 1, held_minor: minor, committed_minor: 0 }
    : { count: 1, held_minor: 0, committed_minor: minor };
}

/**
 * What is added to counters where a decision's state becomes `after` at a moment (ISO UTC). `before` null: the decision is
 * new. It counts where it was first counted, whatever has become of the limits since; slots that count no more by then are
 * left as they are.
 */
export function counterChanges(before: CountingState | null, after: CountingState, at: string): CounterRow[] {
  return changesIn(decodeCountedIn(after.counted_in), before, after, at);
}

/** `counterChanges` where the slots that the decision counts in are at hand. */
export function changesIn(
  slots: readonly CountedIn[],
  before: Omit<CountingState, 'counted_in'> | null,
  after: Omit<CountingState, 'counted_in'>,
  at: string,
): CounterRow[] {
  const rows: CounterRow[] = [];
  for (const { counter_id, subject, slot, until } of slots) {
    // Both are written by toISOString, so they sort as the moments do.
    if (until <= at) continue;
    const was = impactOn(counter_id, before);
    const is = impactOn(counter_id, after);
    const count = is.count - was.count;
    const held_minor = is.held_minor - was.held_minor;
    const committed_minor = is.committed_minor - was.committed_minor;
    if (count === 0 && held_minor === 0 && committed_minor === 0) continue;
    const decision_id = count > 0 && TELLS_LAST.test(counter_id) ? after.decision_id : null;
    rows.push({ counter_id, subject, slot, until, count, held_minor, committed_minor, decision_id });
  }
  return rows;
}
