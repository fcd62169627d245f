import { GENESIS, type LedgerHead } from '@purser/rules/domain/ledger';
import type { Queryable } from '../storage/database.ts';
import { listLedgerEvents, loadLedgerEvents } from '../storage/ledger.ts';
import type { WalkedTable } from './chain-pages.ts';
import type { Findings } from './findings.ts';
import { reachedBy } from './orphans.ts';

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

/** Returns the event that the first checked one must follow, and the ids that the tables have reached there. */
export async function startingPoint(
  db: Queryable,
  workspace_id: string,
  since: number,
  findings: Findings,
): Promise<{ link: LedgerHead; reached: Record<WalkedTable, string> }> {
  if (since === 0) return { link: GENESIS, reached: reachedBy(undefined) };
  const [event] = await loadLedgerEvents(db, workspace_id, { after: since - 1, limit: 1 });
  if (event?.seq === since) {
    return { link: { seq: since, hash: event.hash }, reached: reachedBy(event) };
  }
  if (event !== undefined) {
    const detail = `Event ${since}, to continue after, is missing before event ${event.seq}.`;
    findings.add({ seq: since, kind: 'GAP', detail });
    return { link: { seq: event.seq - 1, hash: event.prev_hash }, reached: reachedBy(event) };
  }
  const end = { order: 'desc', past: null, limit: 1 } as const;
  const [last] = (await listLedgerEvents(db, workspace_id, {}, end)).rows;
  const link = last === undefined ? GENESIS : { seq: last.seq, hash: last.hash };
  const detail = `The chain ends at event ${link.seq}, before event ${since}.`;
  findings.add({ seq: link.seq + 1, kind: 'TRUNCATED', detail });
  return { link, reached: reachedBy(last) };
}
