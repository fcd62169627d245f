import { MAX_EVENTS_LOOKED_AT } from '@purser/contract/values/ledger';
import type { LedgerEvent, LedgerEventType, LedgerHead } from '@purser/rules/domain/ledger';
import { timeOfId } from '@purser/rules/values/ids';
import type { Queryable } from './database.ts';
import { type SizedRow, withinBytes } from './pages.ts';
import { makeInsert } from './rows.ts';

export { MAX_EVENTS_LOOKED_AT };

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

/** Filters of a list of the chain; all must match. */
export interface LedgerFilters {
  type?: readonly LedgerEventType[];
  /** Ids of what the events are about. */
  subject?: readonly string[];
  /** Inclusive, ISO 8601 UTC. */
  from?: string;
  /** Exclusive, ISO 8601 UTC. */
  to?: string;
  /** Only events after this `seq`. */
  after?: number;
}

/** Subjects recorded at their creation with a single event, found by the time in their id. */
const RECORDED_WHEN_MADE = /^(dec|out)_/;

/**
 * Returns the `seq` of the first event at or after a moment (ISO 8601 UTC); one more than that of the last event where
 * there is none. Times ascend along the chain, so it is found by halving: some twenty look-ups by key in a chain of a
 * million.
 */
export async function firstSeqAt(db: Queryable, workspace_id: string, at: string): Promise<number> {
  const result = await db.query<{ seq: number }>({
    name: 'first_seq_at',
    text: `with recursive halving as (
        select 1::bigint as low, seq + 1 as high from ledger_heads where workspace_id = $1
        union all
        select case when e.occurred_at < $2::timestamptz then h.middle + 1 else h.low end,
          case when e.occurred_at < $2::timestamptz then h.high else h.middle end
        from (select low, high, low + (high - low) / 2 as middle from halving where low < high) as h
        left join lateral (
          select occurred_at from ledger_events where workspace_id = $1 and seq = h.middle limit 1) as e on true)
      select low as seq from halving where low >= high`,
    values: [workspace_id, at],
  });
  return result.rows[0]?.seq ?? 1;
}

/** The selects of the candidates of a page, each along one index, and the parameters that they take. */
async function ledgerSources(
  db: Queryable,
  workspace_id: string,
  { type, subject, from, to, after }: LedgerFilters,
  page: { order: 'asc' | 'desc'; past: number | null },
): Promise<{ selects: string[]; values: unknown[] }> {
  const values: unknown[] = [workspace_id];
  const spans = ['workspace_id = $1'];
  const bound = (operator: string, seq: number) => {
    values.push(seq);
    spans.push(`seq ${operator} $${values.length}`);
  };
  if (page.past !== null) bound(page.order === 'asc' ? '>' : '<', page.past);
  if (after !== undefined) bound('>', after);
  if (from !== undefined) bound('>=', await firstSeqAt(db, workspace_id, from));
  if (to !== undefined) bound('<', await firstSeqAt(db, workspace_id, to));
  const select = (...where: string[]) =>
    `(select ${COLUMNS} from ledger_events where ${[...spans, ...where].join(' and ')}
      order by seq ${page.order} limit ${MAX_EVENTS_LOOKED_AT})`;
  if (subject !== undefined) {
    const selects = [];
    for (const id of subject) {
      values.push(id);
      const parameter = `$${values.length}`;
      const made_ms = RECORDED_WHEN_MADE.test(id) ? timeOfId(id) : null;
      if (made_ms === null) {
        selects.push(select(`subject_id = ${parameter}`, `subject_type not in ('decision', 'outcome')`));
        continue;
      }
      const [first, end] = [made_ms, made_ms + 1].map((ms) => new Date(ms).toISOString()) as [string, string];
      values.push(await firstSeqAt(db, workspace_id, first), await firstSeqAt(db, workspace_id, end));
      const range = `seq >= $${values.length - 1} and seq < $${values.length}`;
      selects.push(select(range, `subject_id = ${parameter}`));
    }
    return { selects, values };
  }
  // The names of types are of a closed list, so they stand in the statement, where they choose the index.
  if (type !== undefined && !type.includes('decision.created')) {
    return { selects: type.map((name) => select(`type = '${name}'`, `type <> 'decision.created'`)), values };
  }
  return { selects: [select()], values };
}

/**
 * Returns a page of the chain in the order asked for, past the event `past` (null: from the end on): `limit` events, or
 * fewer where `MAX_EVENTS_LOOKED_AT` were looked at. Only when `next` is null nothing follows.
 */
export async function listLedgerEvents(
  db: Queryable,
  workspace_id: string,
  filters: LedgerFilters,
  page: { order: 'asc' | 'desc'; past: number | null; limit: number },
): Promise<{ rows: LedgerEvent[]; next: number | null }> {
  const { order, limit } = page;
  const { selects, values } = await ledgerSources(db, workspace_id, filters, page);
  const candidates = `select * from (${selects.join(' union all ')}) as found
    order by seq ${order} limit ${MAX_EVENTS_LOOKED_AT}`;
  const wanted = filters.type === undefined ? [] : [filters.type];
  const condition = filters.type === undefined ? '' : `where type = any($${values.length + 1}::text[])`;
  const result = await db.query<LedgerEvent & { workspace_id: string }>({
    text: `select * from (${candidates}) as e ${condition} order by seq ${order} limit ${limit + 1}`,
    values: [...values, ...wanted],
  });
  const rows = result.rows.slice(0, limit);
  if (result.rows.length > limit) return { rows, next: rows.at(-1)?.seq ?? null };
  const last = await db.query<{ seq: number }>({
    text: `select seq from (${candidates}) as e order by seq ${order} offset ${MAX_EVENTS_LOOKED_AT - 1} limit 1`,
    values,
  });
  return { rows, next: last.rows[0]?.seq ?? null };
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
/** The length of a page of 100 lines, as imports make them, about. Those of rails, and of earlier builds, have up to five times as many. */
const PAGE_BYTES = 50_000;

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
          case e.type when 'lines.recorded' then ${PAGE_BYTES} else ${PLAIN_ROW_BYTES} end) as size
        from (select ${COLUMNS} from ledger_events where workspace_id = $1 and seq > $2 and seq <= $3
          order by seq limit $4) as e
        left join lateral (
          select document from decisions where workspace_id = $1 and decision_id = e.subject_id
            and e.type = 'decision.created' limit 1) as d on true
        left join lateral (
          select state, changes from audit_records where workspace_id = $1 and seq = e.seq
            and e.type !~ '^(decision|capability|reservation|lines?)[.]' limit 1) as a on true
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
  has_channels: boolean;
  /** RFC 8785 text of the stop of all agents; null while they may spend. */
  stop: string | null;
}

/** Returns the stored head of the chain, or undefined if its row is missing. */
export async function getHead(db: Queryable, workspace_id: string): Promise<StoredHead | undefined> {
  const result = await db.query<StoredHead & { workspace_id: string }>({
    name: 'get_head',
    text: 'select seq, hash, time_ms, has_webhooks, has_channels, stop from ledger_heads where workspace_id = $1',
    values: [workspace_id],
  });
  return result.rows[0];
}

/** How many events of a chain are of each type. */
export interface EventCounts {
  types: Partial<Record<LedgerEventType, number>>;
  /** True if there were more events than were counted. */
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
