import { MAX_EVENTS, MAX_PENDING, routes } from '@purser/contract/routes/changes';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { countPendingReviews } from '../../engine/storage/decision-states.ts';
import { countEventsByType, type EventCounts, getHead } from '../../engine/storage/ledger.ts';
import { type Route, serve } from '../http/route.ts';

/** Pending reviews change with the chain, except by expiry, which is noticed after this long. */
const MAX_AGE_MS = 1_000;
const MAX_WORKSPACES = 10_000;

const NOTHING_NEW: EventCounts = { types: {}, truncated: false };
const ALL_NEW: EventCounts = { types: {}, truncated: true };

/** Routes for polling changes. `now_ms` is a clock that never runs backwards. */
export function makeChangeRoutes(options: { db: pg.Pool; now_ms: () => number }): Route[] {
  const { db, now_ms } = options;
  const counted = new LRUCache<string, { seq: number; at_ms: number; pending: Promise<number> }>({
    max: MAX_WORKSPACES,
  });

  /** Counted once for each event of the chain and each second, however many look. */
  function pendingReviews(workspace_id: string, seq: number): Promise<number> {
    const known = counted.get(workspace_id);
    const at_ms = now_ms();
    if (known !== undefined && known.seq === seq && at_ms - known.at_ms < MAX_AGE_MS) return known.pending;
    const pending = countPendingReviews(db, workspace_id, MAX_PENDING);
    counted.set(workspace_id, { seq, at_ms, pending });
    pending.catch(() => counted.delete(workspace_id));
    return pending;
  }

  return [
    serve(routes.getChanges, { shares: 'reads' })(async (call) => {
      const { workspace_id } = call.caller;
      const seq = (await getHead(db, workspace_id))?.seq ?? 0;
      const { since = seq } = call.query;
      let news = since > seq ? ALL_NEW : NOTHING_NEW;
      if (since < seq) {
        news = await countEventsByType(db, workspace_id, { after: since, upto: seq, max: MAX_EVENTS });
      }
      const pending_reviews = await pendingReviews(workspace_id, seq);
      return { status: 200, body: { seq, ...news, pending_reviews } };
    }),
  ];
}
