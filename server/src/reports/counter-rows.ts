import type { Client, Queryable } from '../storage/database.ts';
import { makeInsert } from '../storage/rows.ts';
import {
  type CounterSheet,
  factsAsMade,
  type LaterFacts,
  MAX_EXAMPLES,
  type ReportCounter,
  type ReportFacts,
  sameLaterFacts,
} from './counters.ts';
import { loadCountedFacts, loadDecisionsOfRecords, loadReportFacts, type ReportEvent } from './fact-rows.ts';

/** Events after which a decision may have to be counted otherwise. */
const LATER_EVENTS = new Set([
  'decision.review.recorded',
  'decision.label.recorded',
  'decision.outcome.recorded',
]);

/** What has been seen of the events that a fold goes through, page by page. */
export interface FoldProgress {
  /** Decisions that are in the sheet as they stand now: made among these events, or corrected already. */
  counted: Set<string>;
}

/**
 * Adds a page of events to a sheet: decisions made are counted as they stand now, those that something happened to
 * are corrected by what has been counted of them. Gives back what is now counted of decisions of which more is
 * known than when they were made. Since a count is always taken back as it was given, it does no harm that a
 * decision may be counted with what a later page is about.
 */
export async function foldEvents(
  db: Queryable,
  workspace_id: string,
  events: readonly ReportEvent[],
  progress: FoldProgress,
  sheet: CounterSheet,
): Promise<ReportFacts[]> {
  const { counted } = progress;
  const made = events.filter((event) => event.type === 'decision.created').map((event) => event.subject_id);
  for (const id of made) counted.add(id);
  const records = events.filter((event) => LATER_EVENTS.has(event.type)).map((event) => event.subject_id);
  const touched = new Set(
    (await loadDecisionsOfRecords(db, workspace_id, records)).filter((id) => !counted.has(id)),
  );
  for (const id of touched) counted.add(id);
  const facts = await loadReportFacts(db, workspace_id, [...made, ...touched]);
  const before = await loadCountedFacts(db, workspace_id, [...touched]);
  const known_more: ReportFacts[] = [];
  for (const each of facts) {
    const as_made = factsAsMade(each.decision);
    if (touched.has(each.decision_id)) sheet.correct(each, before.get(each.decision_id) ?? as_made);
    else sheet.add(each);
    if (each.mode === 'SHADOW' && (touched.has(each.decision_id) || !sameLaterFacts(each, as_made))) {
      known_more.push(each);
    }
  }
  return known_more;
}

/** Adds the counts to those that are kept. */
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

/** Remembers what was counted of decisions. */
export const putCountedFacts = makeInsert<LaterFacts & { decision_id: string }>(
  'report_counted',
  {
    decision_id: 'text',
    review_state: 'text',
    waited_s: 'bigint',
    label: 'text',
    assessment: 'text',
    outcome_state: 'text',
    executed_minor: 'bigint',
  },
  {
    conflict: ['decision_id'],
    update: ['review_state', 'waited_s', 'label', 'assessment', 'outcome_state', 'executed_minor'],
  },
);

type CounterRow = Omit<ReportCounter, 'amount_minor'> & { amount_minor: string };

const withAmount = (row: CounterRow): ReportCounter => ({ ...row, amount_minor: BigInt(row.amount_minor) });

/** The UTC days from `first` on and before `end`, of a slice. */
export interface DayRange {
  slice: string;
  first: string;
  end: string;
}

/** Every counter of those days but those of merchants; days are told apart for decisions alone. */
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

/**
 * Counters of the merchants with the most decisions in those days, and of `also`. With those that were counted
 * elsewhere as `also`, the first of both together are among them.
 */
export async function loadMerchantCounters(
  db: Queryable,
  workspace_id: string,
  { slice, first, end }: DayRange,
  options: { most: number; also: readonly string[] },
): Promise<ReportCounter[]> {
  const result = await db.query<CounterRow & { workspace_id: string }>({
    name: 'load_merchant_counters',
    // Two conditions with "or" are looked up in hash tables; one over both together would be compared row by row.
    text: `with sums as materialized (
        select name, decision, currency, sum(count)::bigint as count, sum(amount_minor) as amount_minor
        from report_counters where workspace_id = $1 and slice = $2 and measure = 'merchants' and day >= $3 and day < $4
        group by name, decision, currency),
      top as (select name from sums group by name order by sum(count) desc, name limit $5)
      select $2::text as slice, 'merchants' as measure, $3::text as day, decision, name, currency, count, amount_minor,
        '{}'::text[] as newest_ids
      from sums where name in (select name from top) or name in (select unnest($6::text[]))`,
    values: [workspace_id, slice, first, end, options.most, options.also],
  });
  return result.rows.map(withAmount);
}
