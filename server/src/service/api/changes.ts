import { route } from '@purser/contract/route';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import Type from 'typebox';
import { countPendingReviews } from '../../engine/storage/decision-states.ts';
import { countEventsByType, type EventCounts, getHead } from '../../engine/storage/ledger.ts';
import { type Route, serve } from '../http/route.ts';
import { Fields, QueryInteger } from '../http/schemas.ts';

/** Who is further behind than this reads everything anew anyway. */
const MAX_EVENTS = 500;
/** More than that many waiting reviews are not told apart. */
const MAX_PENDING = 10_000;
/** What waits changes with the chain, but for reviews whose time runs out: those are noticed after so long. */
const MAX_AGE_MS = 1_000;
const MAX_WORKSPACES = 10_000;

const NOTHING_NEW: EventCounts = { types: {}, truncated: false };
const ALL_NEW: EventCounts = { types: {}, truncated: true };

const ChangesQuery = Fields({
  since: Type.Optional(
    QueryInteger(
      { min: 0, max: Number.MAX_SAFE_INTEGER },
      {
        description: 'The `seq` of an earlier response; without it, the response has only the current `seq`.',
      },
    ),
  ),
});

const ChangesBody = Fields(
  {
    seq: Type.Integer({
      minimum: 0,
      description: 'The last event of the chain; give it as `since` next time.',
    }),
    types: Type.Object(
      {},
      {
        additionalProperties: { type: 'integer', minimum: 1 },
        description: 'Number of events after `since`, by type.',
        examples: [{ 'decision.created': 12 }],
      },
    ),
    pending_reviews: Type.Integer({
      minimum: 0,
      maximum: MAX_PENDING,
      description: `Number of pending reviews; ${MAX_PENDING} means ${MAX_PENDING} or more.`,
    }),
    truncated: Type.Boolean({
      description: `True if there were more than ${MAX_EVENTS} events, or \`since\` belongs to another history: reload everything.`,
    }),
  },
  { $id: 'Changes' },
);

const routes = {
  getChanges: route({
    method: 'GET',
    path: '/v1/changes',
    operationId: 'getChanges',
    tag: 'Workspace',
    summary: 'List what has changed',
    description:
      'Keeps a screen up to date: poll every few seconds, and reload what the event types concern. A poll without changes reads one row.',
    scopes: ['read'],
    query: ChangesQuery,
    responses: { 200: { description: 'The changes.', schema: ChangesBody } },
    errors: [],
  }),
};

/** What has changed, for whoever looks again and again. `now_ms` is a clock that never runs backwards. */
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
