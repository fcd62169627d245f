import type { Client, Queryable } from '../storage/database.ts';
import { makeInsert } from '../storage/rows.ts';
import {
  type CounterSheet,
  initialFacts,
  type LaterFacts,
  MAX_EXAMPLES,
  type Measure,
  type ReportCounter,
  type ReportFacts,
  sameLaterFacts,
} from './counters.ts';
import { loadCountedFacts, loadDecisionsOfRecords, loadReportFacts, type ReportEvent } from './fact-rows.ts';

/** Events that may change how a decision is counted. */
const LATER_EVENTS = new Set([
  'decision.review.recorded',
  'decision.label.recorded',
  'decision.outcome.recorded',
]);

/** The progress of a fold over several pages of events. */
export interface FoldProgress {
  /** Decisions that the sheet counts as they are now: made in these pages, or corrected already. */
  counted: Set<string>;
}

/**
 * Adds a page of events to a sheet. New decisions are counted as they are now; for changed ones the count is corrected.
 * Returns the facts, as now counted, of decisions that differ from their initial facts. Reading the present state may count
 * the effects of a later page early, which does no harm: a correction always subtracts exactly what was counted.
 */
export async function foldEvents(
  db: Queryable,
  workspace_id: string,
  events: readonly ReportEvent[],
  progress: FoldProgress,
  sheet: CounterSheet,
): Promise<ReportFacts[]> {
  const { counted } = progress;
  const created = events
    .filter((event) => event.type === 'decision.created')
    .map((event) => event.subject_id);
  for (const id of created) counted.add(id);
  const records = events.filter((event) => LATER_EVENTS.has(event.type)).map((event) => event.subject_id);
  const touched = new Set(
    (await loadDecisionsOfRecords(db, workspace_id, records)).filter((id) => !counted.has(id)),
  );
  for (const id of touched) counted.add(id);
  const facts = await loadReportFacts(db, workspace_id, [...created, ...touched]);
  const before = await loadCountedFacts(db, workspace_id, [...touched]);
  const changed: ReportFacts[] = [];
  for (const each of facts) {
    const initial = initialFacts(each.decision);
    if (touched.has(each.decision_id)) sheet.correct(each, before.get(each.decision_id) ?? initial);
    else sheet.add(each);
    if (each.mode === 'SHADOW' && (touched.has(each.decision_id) || !sameLaterFacts(each, initial))) {
      changed.push(each);
    }
  }
  return changed;
}

/** Adds these counters to the stored ones. */
export function addCounters(
  client: Client,
  workspace_id: string,
  counters: readonly ReportCounter[],
): Promise<unknown> {
  const column = <Name extends keyof ReportCounter>(name: Name) => counters.map((counter) => counter[name]);
  return client.query({
    name: 'add_report_counters',
    text: `insert into report_counters as kept
        (workspace_id, slice, measure, day, decision, name, currency, count, amount_minor, newest_ids)
      select $1, slice, measure, day, decision, name, currency, count, amount_minor, string_to_array(newest_ids, ' ')
      from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::numeric[],
        $10::text[]) as r(slice, measure, day, decision, name, currency, count, amount_minor, newest_ids)
      on conflict (workspace_id, slice, measure, day, decision, name, currency) do update set
        count = kept.count + excluded.count,
        amount_minor = kept.amount_minor + excluded.amount_minor,
        newest_ids = (excluded.newest_ids || kept.newest_ids)[1:${MAX_EXAMPLES}]`,
    values: [
      workspace_id,
      column('slice'),
      column('measure'),
      column('day'),
      column('decision'),
      column('name'),
      column('currency'),
      column('count'),
      counters.map((counter) => String(counter.amount_minor)),
      counters.map((counter) => counter.newest_ids.join(' ')),
    ],
  });
}

/** Stores the facts with which decisions are counted, so that a later correction can subtract them. */
export const putCountedFacts = makeInsert<LaterFacts & { decision_id: string }>(
  'report_counted',
  {
    decision_id: 'text',
    review_state: 'text',
    waited_s: 'bigint',
    by_key_maker: 'boolean',
    label: 'text',
    assessment: 'text',
    outcome_state: 'text',
    executed_minor: 'bigint',
  },
  {
    conflict: ['decision_id'],
    update: [
      'review_state',
      'waited_s',
      'by_key_maker',
      'label',
      'assessment',
      'outcome_state',
      'executed_minor',
    ],
  },
);

/** A counter as the driver gives it. */
export type CounterRow = Omit<ReportCounter, 'amount_minor'> & { amount_minor: string };

/** Reads a stored counter. */
export const withAmount = (row: CounterRow): ReportCounter => ({
  ...row,
  amount_minor: BigInt(row.amount_minor),
});

/** The UTC days of a slice from `first` up to, but not including, `end`. */
export interface DayRange {
  slice: string;
  first: string;
  end: string;
}

/** The counters of these days except those of merchants. Only the counters of decisions are returned day by day. */
export async function loadCounters(
  db: Queryable,
  workspace_id: string,
  { slice, first, end }: DayRange,
): Promise<ReportCounter[]> {
  const values = [workspace_id, slice, first, end];
  const range = 'workspace_id = $1 and slice = $2 and day >= $3 and day < $4';
  const decisions = await db.query<CounterRow & { workspace_id: string }>({
    name: 'load_decision_counters',
    text: `select slice, measure, day, decision, name, currency, count, amount_minor, newest_ids
      from report_counters where ${range} and measure = 'decisions'`,
    values,
  });
  const others = await db.query<CounterRow & { workspace_id: string }>({
    name: 'load_other_counters',
    text: `select slice, measure, min(day) as day, decision, name, currency, sum(count)::bigint as count,
        sum(amount_minor) as amount_minor, '{}'::text[] as newest_ids
      from unnest(array['agents', 'enforced', 'labels', 'outcomes', 'reviews', 'waits']) as m(wanted)
      join report_counters on ${range} and measure = wanted
      group by slice, measure, decision, name, currency having sum(count) <> 0 or sum(amount_minor) <> 0`,
    values,
  });
  return [...decisions.rows, ...others.rows].map(withAmount);
}

/** The counters of these days that an overview of both modes is made of, day by day. */
export async function loadOverviewCounters(
  db: Queryable,
  workspace_id: string,
  { slice, first, end }: DayRange,
): Promise<ReportCounter[]> {
  const result = await db.query<CounterRow & { workspace_id: string }>({
    name: 'load_overview_counters',
    text: `select slice, measure, day, decision, name, currency, count, amount_minor, '{}'::text[] as newest_ids
      from unnest(array['decisions', 'agents', 'enforced', 'enforced_agents']) as m(wanted)
      join report_counters on workspace_id = $1 and slice = $2 and measure = wanted and day >= $3 and day < $4`,
    values: [workspace_id, slice, first, end],
  });
  return result.rows.map(withAmount);
}

/**
 * The counters of the `max` merchants with the most decisions in these days by these measures, and of those in `counted`,
 * which the caller has counted itself: with these the result is enough to find the top `max` of both together.
 */
export async function loadMerchantCounters(
  db: Queryable,
  workspace_id: string,
  { slice, first, end }: DayRange,
  options: {
    measures: readonly ('merchants' | 'enforced_merchants')[];
    max: number;
    counted: readonly ReportCounter[];
  },
): Promise<ReportCounter[]> {
  const measures: readonly Measure[] = options.measures;
  const also = new Set(options.counted.flatMap((each) => (measures.includes(each.measure) ? each.name : [])));
  const result = await db.query<CounterRow & { workspace_id: string }>({
    name: 'load_merchant_counters',
    // PostgreSQL hashes each of the two subqueries; a union of them would be compared row by row.
    text: `with sums as materialized (
        select measure, name, decision, currency, sum(count)::bigint as count, sum(amount_minor) as amount_minor
        from unnest($7::text[]) as m(wanted)
        join report_counters on workspace_id = $1 and slice = $2 and measure = wanted and day >= $3 and day < $4
        group by measure, name, decision, currency),
      top as (select name from sums group by name order by sum(count) desc, name limit $5)
      select $2::text as slice, measure, $3::text as day, decision, name, currency, count, amount_minor,
        '{}'::text[] as newest_ids
      from sums where name in (select name from top) or name in (select unnest($6::text[]))`,
    values: [workspace_id, slice, first, end, options.max, [...also], measures],
  });
  return result.rows.map(withAmount);
}
