import type { CounterKey, CounterRow, CounterSlot } from './counters.ts';

/** A slot that a decision counts in. */
export interface CountedIn extends CounterKey {
  slot: string;
  until: string;
}

/** The fields of a decision's state that tell what it counts for. */
export interface CountingState {
  decision_id: string;
  reservation_status: string;
  /** Held amount, or spent and not refunded. */
  amount_minor: number;
  /** The slots as text, see `encodeCountedIn`; null: it counts in no counter. */
  counted_in: string | null;
  /** Held or spent amount, including refunds. */
  paced_minor: number;
}

/** Counters of which one is told who was counted last. */
export const tellsLast = (counter_id: string) => counter_id.startsWith('dup_');
/** Counters that hold the pace of spending: what was refunded was spent all the same. */
const isOfPace = (counter_id: string) => counter_id.startsWith('vel_') || tellsLast(counter_id);

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

/** A state's contribution to one counter. */
type Impact = Pick<CounterSlot, 'count' | 'held_minor' | 'committed_minor'>;

const NO_IMPACT: Impact = { count: 0, held_minor: 0, committed_minor: 0 };

/** A state's contribution to a counter of pace, and to any other. */
function impactsOf(state: Omit<CountingState, 'counted_in'> | null): { of_pace: Impact; other: Impact } {
  const status = state?.reservation_status;
  if (state === null || (status !== 'HELD' && status !== 'COMMITTED')) {
    return { of_pace: NO_IMPACT, other: NO_IMPACT };
  }
  const { amount_minor, paced_minor } = state;
  const impactOf = (minor: number): Impact =>
    status === 'HELD'
      ? { count: 1, held_minor: minor, committed_minor: 0 }
      : { count: 1, held_minor: 0, committed_minor: minor };
  return { of_pace: impactOf(paced_minor), other: impactOf(amount_minor) };
}

/**
 * The changes of counters when a decision's state becomes `after` at a time (ISO UTC). `before` null: the decision is
 * new. It counts where it was first counted, whatever has become of the limits since; slots that count no more by
 * then are left as they are.
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
  const before_each = impactsOf(before);
  const after_each = impactsOf(after);
  for (const { counter_id, subject, slot, until } of slots) {
    // Both are written by toISOString, so they sort as the moments do.
    if (until <= at) continue;
    const kind = isOfPace(counter_id) ? 'of_pace' : 'other';
    const was = before_each[kind];
    const is = after_each[kind];
    const count = is.count - was.count;
    const held_minor = is.held_minor - was.held_minor;
    const committed_minor = is.committed_minor - was.committed_minor;
    if (count === 0 && held_minor === 0 && committed_minor === 0) continue;
    const decision_id = count > 0 && tellsLast(counter_id) ? after.decision_id : null;
    rows.push({ counter_id, subject, slot, until, count, held_minor, committed_minor, decision_id });
  }
  return rows;
}
