import type { LedgerHead } from '@purser/rules/domain/ledger';
import type { Findings } from './findings.ts';

/** The tolerated difference between the time of the head and the clock, which may have been set back. */
const TOLERATED_AHEAD_MS = 3_600_000;

/** Reports a head that does not name the last event, or whose time is before that event or in the future. */
export function checkHead(
  findings: Findings,
  head: (LedgerHead & { time_ms: number }) | undefined,
  last: LedgerHead,
  occurred_ms: number,
  clock_ms: number,
): void {
  if (head === undefined) {
    findings.add({ seq: last.seq + 1, kind: 'TRUNCATED', detail: 'The head of the chain is gone.' });
  } else if (head.seq > last.seq) {
    const detail = `The chain ends at event ${last.seq}, but its head is event ${head.seq}.`;
    findings.add({ seq: last.seq + 1, kind: 'TRUNCATED', detail });
  } else if (head.seq !== last.seq || !head.hash.equals(last.hash)) {
    const detail = `Event ${last.seq} is not the head of the chain, which is event ${head.seq}.`;
    findings.add({ seq: last.seq, kind: 'LINK_BROKEN', detail });
  } else if (
    !(head.time_ms >= occurred_ms && head.time_ms <= Math.max(clock_ms, occurred_ms) + TOLERATED_AHEAD_MS)
  ) {
    const detail = `The head's time ${head.time_ms} is not one between event ${last.seq} and now.`;
    findings.add({ seq: last.seq, kind: 'LINK_BROKEN', detail });
  }
}
