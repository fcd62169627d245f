import { tellsLast } from '@purser/rules/counters/counted-in';
import {
  type CounterKey,
  type CounterRow,
  counterName,
  type NamedCounter,
  type StoredCounter,
  type StoredSlot,
  storedSlot,
} from '@purser/rules/counters/counters';
import { type CounterWindow, reachSeconds } from '@purser/rules/counters/windows';
import { CLOCK_TOLERANCE_MS } from '@purser/rules/values/clock-tolerance';
import { valueIn } from '@purser/rules/values/maps';
import { arrayLiteral } from '../../array-literal.ts';
import type { Client, Queryable } from '../database.ts';
import { type InWorkspace, sendCounted, type WorkspaceRows, workspaceIdsOf } from '../rows.ts';

/** A counter to load. */
export interface WantedCounter extends NamedCounter {
  window: CounterWindow;
}

/** The largest amount that clients can represent; no limit is larger. */
const MAX_MINOR = Number.MAX_SAFE_INTEGER;

/** The counters that rows belong to, after those of `wanted`, in which there may be nothing. */
function countersOfRows(
  rows: readonly InWorkspace<CounterRow>[],
  wanted: readonly InWorkspace<CounterKey>[] = [],
): InWorkspace<StoredCounter>[] {
  const found = new Map<string, InWorkspace<NamedCounter> & { slots: StoredSlot[] }>();
  const slotsOf = ({ workspace_id, counter_id, subject }: InWorkspace<CounterKey>) => {
    const name = counterName({ counter_id, subject });
    return valueIn(found, `${workspace_id} ${name}`, () => {
      return { workspace_id, counter_id, subject, name, slots: [] };
    }).slots;
  };
  for (const each of wanted) slotsOf(each);
  for (const row of rows) slotsOf(row).push(storedSlot(row));
  return [...found.values()];
}

/** Returns these counters, also where nothing counts in them, with their slots that may still count. */
export async function loadCounters(
  db: Queryable,
  wanted: readonly InWorkspace<WantedCounter>[],
): Promise<InWorkspace<StoredCounter>[]> {
  const result = await db.query<InWorkspace<CounterRow>>({
    name: 'load_counters',
    // The clock is read in subqueries, since an index cannot be searched by a volatile value. The minute covers a batch
    // whose time is ahead of this statement's clock or behind it.
    text: `select c.workspace_id, c.counter_id, c.subject, c.slot, c.until, c.count,
        least(c.held_minor, ${MAX_MINOR}) as held_minor, least(c.committed_minor, ${MAX_MINOR}) as committed_minor,
        c.decision_id
      from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as w(workspace_id, counter_id, subject, reach)
      cross join lateral (
        select * from counters c where c.workspace_id = w.workspace_id and c.counter_id = w.counter_id
          and c.subject = w.subject
          and c.slot > (select clock_timestamp()) - make_interval(secs => w.reach + 60)
          and c.until > (select clock_timestamp()) - interval '1 minute') as c`,
    values: [
      wanted.map((each) => each.workspace_id),
      wanted.map((each) => each.counter_id),
      wanted.map((each) => each.subject),
      wanted.map((each) => reachSeconds(each.window)),
    ],
  });
  return countersOfRows(result.rows, wanted);
}

/** Adds to slots what is in `rows`, and makes those that there are not yet. */
export function addToCounters(client: Client, parts: readonly WorkspaceRows<CounterRow>[]): Promise<unknown> {
  const rows = parts.flatMap((part) => part.rows);
  const column = (name: keyof CounterRow) => arrayLiteral(rows.map((row) => row[name]));
  return sendCounted(client, {
    name: 'add_to_counters',
    writes: rows.length,
    // Hardly any spend is the duplicate of another.
    mostly_there: !rows.some(({ counter_id }) => tellsLast(counter_id)),
    text: `insert into counters (workspace_id, counter_id, subject, slot, until, count, held_minor, committed_minor,
        decision_id)
      select r.workspace_id, r.counter_id, r.subject, r.slot, r.until, r.count, r.held_minor, r.committed_minor, r.decision_id
      from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::bigint[],
        $7::bigint[], $8::bigint[], $9::text[])
        as r(workspace_id, counter_id, subject, slot, until, count, held_minor, committed_minor, decision_id)
      on conflict (workspace_id, counter_id, subject, slot) do update set
        count = counters.count + excluded.count,
        held_minor = counters.held_minor + excluded.held_minor,
        committed_minor = counters.committed_minor + excluded.committed_minor,
        decision_id = greatest(counters.decision_id, excluded.decision_id)`,
    values: [
      arrayLiteral(workspaceIdsOf(parts)),
      column('counter_id'),
      column('subject'),
      column('slot'),
      column('until'),
      column('count'),
      column('held_minor'),
      column('committed_minor'),
      column('decision_id'),
    ],
  });
}

/** A subject of a counter with what counts of it. */
export type SubjectUse = CounterKey & { count: number; amount_minor: number };

/**
 * Returns what counts at a moment of each subject of these counters: of each counter those with the highest amounts, or where
 * `by_count` the highest counts, at most `limit`.
 */
export async function listMostUsedSubjects(
  db: Queryable,
  workspace_id: string,
  counters: readonly { counter_id: string; by_count: boolean }[],
  page: { now: string; limit: number },
): Promise<SubjectUse[]> {
  if (counters.length === 0) return [];
  const result = await db.query<SubjectUse & { workspace_id: string }>({
    name: 'list_fullest_subjects',
    text: `select s.counter_id, s.subject, s.count::bigint as count,
        least(s.amount, ${MAX_MINOR})::bigint as amount_minor
      from unnest($2::text[], $3::boolean[]) as w(counter_id, by_count)
      cross join lateral (
        select c.counter_id, c.subject, sum(c.count) as count, sum(c.held_minor + c.committed_minor) as amount
        from counters c where c.workspace_id = $1 and c.counter_id = w.counter_id and c.until > $4::timestamptz
          and c.slot <= $4::timestamptz + interval '${CLOCK_TOLERANCE_MS} milliseconds'
        group by c.counter_id, c.subject
        having sum(c.count) > 0
        order by case when w.by_count then sum(c.count) else sum(c.held_minor + c.committed_minor) end desc, c.subject
        limit $5) as s`,
    values: [
      workspace_id,
      counters.map((each) => each.counter_id),
      counters.map((each) => each.by_count),
      page.now,
      page.limit,
    ],
  });
  return result.rows;
}

/** Returns what counts now in each of these counters; one in which nothing counts is left out. */
export async function readUseNow(
  db: Queryable,
  workspace_id: string,
  counters: readonly CounterKey[],
): Promise<SubjectUse[]> {
  if (counters.length === 0) return [];
  const result = await db.query<SubjectUse & { workspace_id: string }>({
    name: 'read_use_now',
    text: `select c.counter_id, c.subject, sum(c.count)::bigint as count,
        least(sum(c.held_minor + c.committed_minor), ${MAX_MINOR})::bigint as amount_minor
      from unnest($2::text[], $3::text[]) as w(counter_id, subject)
      join counters c on c.workspace_id = $1 and c.counter_id = w.counter_id and c.subject = w.subject
      where c.slot <= (select clock_timestamp()) and c.until > (select clock_timestamp())
      group by c.counter_id, c.subject`,
    values: [
      workspace_id,
      counters.map(({ counter_id }) => counter_id),
      counters.map(({ subject }) => subject),
    ],
  });
  return result.rows;
}

/** Returns these counters with each of their subjects in which something may still count. */
export async function loadWholeCounters(
  db: Queryable,
  wanted: readonly InWorkspace<{ counter_id: string }>[],
): Promise<InWorkspace<StoredCounter>[]> {
  const result = await db.query<InWorkspace<CounterRow>>({
    name: 'load_whole_counters',
    text: `select c.workspace_id, c.counter_id, c.subject, c.slot, c.until, c.count,
        least(c.held_minor, ${MAX_MINOR}) as held_minor, least(c.committed_minor, ${MAX_MINOR}) as committed_minor,
        c.decision_id
      from unnest($1::text[], $2::text[]) as w(workspace_id, counter_id)
      cross join lateral (
        select * from counters c where c.workspace_id = w.workspace_id and c.counter_id = w.counter_id
          and c.until > (select clock_timestamp()) - interval '1 minute') as c`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.counter_id)],
  });
  return countersOfRows(result.rows);
}

/** Returns what counts in these shared budgets and in all above them. */
export async function loadBudgetCounters(
  db: Queryable,
  wanted: readonly InWorkspace<{ slug: string }>[],
): Promise<InWorkspace<StoredCounter>[]> {
  const result = await db.query<InWorkspace<CounterRow>>({
    name: 'load_budget_counters',
    text: `with recursive named as (
        select b.workspace_id, b.budget_id, b.parent_id from unnest($1::text[], $2::text[]) as w(workspace_id, slug)
          join shared_budgets b on b.workspace_id = w.workspace_id and b.slug = w.slug
        union
        select b.workspace_id, b.budget_id, b.parent_id from named n
          join shared_budgets b on b.workspace_id = n.workspace_id and b.budget_id = n.parent_id)
      select c.workspace_id, c.counter_id, c.subject, c.slot, c.until, c.count,
        least(c.held_minor, ${MAX_MINOR}) as held_minor, least(c.committed_minor, ${MAX_MINOR}) as committed_minor,
        c.decision_id
      from named n
      cross join lateral (
        select * from counters c where c.workspace_id = n.workspace_id and c.counter_id = n.budget_id
          and c.until > (select clock_timestamp()) - interval '1 minute') as c`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.slug)],
  });
  return countersOfRows(result.rows);
}

/** Deletes slots that count no more since a day; at most `limit`. Returns how many there were. */
export async function sweepCounters(db: Queryable, limit: number): Promise<number> {
  const over = await db.query<CounterKey & { workspace_id: string; slot: string }>({
    name: 'find_slots_to_sweep',
    text: `select workspace_id, counter_id, subject, slot from counters
      where counter_id <> '' and until < (select clock_timestamp()) - interval '1 day' order by until limit $1`,
    values: [limit],
  });
  if (over.rows.length === 0) return 0;
  const column = (name: keyof (typeof over.rows)[0]) => over.rows.map((row) => row[name]);
  const result = await db.query({
    name: 'sweep_counters',
    text: `delete from counters c using (
        select c.workspace_id, c.counter_id, c.subject, c.slot
        from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) as w(workspace_id, counter_id, subject, slot)
        join counters c on c.workspace_id = w.workspace_id and c.counter_id = w.counter_id and c.subject = w.subject
          and c.slot = w.slot
        order by c.workspace_id, c.counter_id, c.subject, c.slot for update of c skip locked) as over
      where c.workspace_id = over.workspace_id and c.counter_id = over.counter_id and c.subject = over.subject
        and c.slot = over.slot`,
    values: [column('workspace_id'), column('counter_id'), column('subject'), column('slot')],
  });
  return result.rowCount ?? 0;
}

/** Since when the counters of an agent count that were primed with a part of what came before, newest first. */
export async function listCountedSince(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
): Promise<{ counter_ids: string[]; counted_since: string }[]> {
  const result = await db.query<{ counter_ids: string[]; counted_since: string }>({
    name: 'list_counted_since',
    text: `select state::json->'primed'->'counter_ids' as counter_ids, state::json->'primed'->>'counted_since' as counted_since
      from audit_records where workspace_id = $1 and target_id = $2 and target_id <> ''
        and action = 'authority.created' and strpos(state, '"counted_since":"') > 0
        and created_at > (select clock_timestamp()) - interval '63 days'
      order by seq desc limit 20`,
    values: [workspace_id, agent_id],
  });
  return result.rows.filter(({ counted_since }) => counted_since !== null);
}
