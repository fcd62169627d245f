import type { LedgerEvent, LedgerEventType, LedgerHead } from '../domain/ledger.ts';
import type { Queryable } from './database.ts';
import { type SizedRow, withinBytes } from './pages.ts';
import { makeInsert } from './rows.ts';

const COLUMNS = 'seq, id, type, subject_type, subject_id, occurred_at, data_hash, prev_hash, hash';

export const appendLedgerEvents = makeInsert<LedgerEvent>('ledger_events', {
  seq: 'bigint',
  id: 'text',
  type: 'text',
  subject_type: 'text',
  subject_id: 'text',
  occurred_at: 'timestamptz',
  data_hash: 'bytea',
  prev_hash: 'bytea',
  hash: 'bytea',
});

/** Returns a page of the chain, newest first, before the event `before` (null: from the newest on). */
export async function listLedgerEvents(
  db: Queryable,
  workspace_id: string,
  page: { before: number | null; limit: number },
): Promise<LedgerEvent[]> {
  const result = await db.query<LedgerEvent & { workspace_id: string }>({
    name: 'list_ledger_events',
    text: `select ${COLUMNS} from ledger_events where workspace_id = $1 and ($2::bigint is null or seq < $2)
      order by seq desc limit $3`,
    values: [workspace_id, page.before, page.limit],
  });
  return result.rows;
}

/** Returns at most `limit` events after `after`, in the order of the chain. */
export async function loadLedgerEvents(
  db: Queryable,
  workspace_id: string,
  page: { after: number; limit: number },
): Promise<LedgerEvent[]> {
  const result = await db.query<LedgerEvent & { workspace_id: string }>({
    name: 'load_ledger_events',
    text: `select ${COLUMNS} from ledger_events where workspace_id = $1 and seq > $2 order by seq limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

/** An upper estimate for rows that are neither decisions nor audit records. */
const PLAIN_ROW_BYTES = 2_000;

/**
 * Returns the events after `after` up to and including `until`, in the order of the chain: `limit` of them, or fewer if
 * what they seal adds up to about a megabyte.
 */
export async function loadLedgerEventsWithin(
  db: Queryable,
  workspace_id: string,
  page: { after: number; until: number; limit: number },
): Promise<LedgerEvent[]> {
  const result = await db.query<LedgerEvent & SizedRow & { size: number }>({
    name: 'load_ledger_events_within',
    text: withinBytes(
      `select e.*, coalesce(octet_length(d.document), octet_length(a.state) + octet_length(a.changes::text),
          ${PLAIN_ROW_BYTES}) as size
        from (select ${COLUMNS} from ledger_events where workspace_id = $1 and seq > $2 and seq <= $3
          order by seq limit $4) as e
        left join lateral (
          select document from decisions where workspace_id = $1 and decision_id = e.subject_id
            and e.type = 'decision.created' limit 1) as d on true
        left join lateral (
          select state, changes from audit_records where workspace_id = $1 and seq = e.seq
            and e.type !~ '^(decision|capability|reservation)[.]' limit 1) as a on true
        order by e.seq`,
      { size: 'size', order: 'seq' },
    ),
    values: [workspace_id, page.after, page.until, page.limit],
  });
  return result.rows.map(({ size, found, bytes_before, ...event }) => event);
}

/** The stored head of a chain. */
export interface StoredHead extends LedgerHead {
  /** The timestamp of the workspace's last batch, ms. */
  time_ms: number;
  has_webhooks: boolean;
}

/** Returns the stored head of the chain, or undefined if its row is missing. */
export async function getHead(db: Queryable, workspace_id: string): Promise<StoredHead | undefined> {
  const result = await db.query<StoredHead & { workspace_id: string }>({
    name: 'get_head',
    text: 'select seq, hash, time_ms, has_webhooks from ledger_heads where workspace_id = $1',
    values: [workspace_id],
  });
  return result.rows[0];
}

/** How many events of a chain are of each type. */
export interface EventCounts {
  types: Partial<Record<LedgerEventType, number>>;
  /** Whether there were more events than were counted. */
  truncated: boolean;
}

/** Counts the events after `after` and up to `upto` by type, the first `max` of them. */
export async function countEventsByType(
  db: Queryable,
  workspace_id: string,
  range: { after: number; upto: number; max: number },
): Promise<EventCounts> {
  const { after, upto, max } = range;
  const result = await db.query<{ type: LedgerEventType; count: number }>({
    name: 'count_events_by_type',
    text: `select type, count(*) as count from (
        select type from ledger_events where workspace_id = $1 and seq > $2 and seq <= $3 order by seq limit $4) as e
      group by type order by type`,
    values: [workspace_id, after, upto, max],
  });
  return {
    types: Object.fromEntries(result.rows.map(({ type, count }) => [type, count])),
    truncated: upto - after > max,
  };
}
