import type { MODES } from '@purser/contract/values/agents';
import type { SPENDING_BY } from '@purser/contract/values/reports';
import type pg from 'pg';
import type { Client, Queryable } from '../storage/database.ts';
import { inTransaction } from '../storage/transactions.ts';
import { type CounterRow, type DayRange, withAmount } from './counter-rows.ts';
import { ALL_AGENTS, type Measure, type ReportCounter } from './counters.ts';
import { countDirectly, wholeDays } from './period-counters.ts';

type Mode = (typeof MODES)[number];

/** By what its counters divide a spending report. */
export type SpendingBy = Exclude<(typeof SPENDING_BY)[number], 'budget'>;

/** The question of a spending report. */
interface SpendingAsked {
  agent_id: string | null;
  by: SpendingBy;
  /** Both unless it is given. */
  mode?: Mode | undefined;
  max_parts: number;
  /** Only the parts with these names. */
  names?: readonly string[] | undefined;
}

const ALL: Record<Mode, Measure> = { SHADOW: 'decisions', ENFORCE: 'enforced' };
const PARTS: Record<SpendingBy, Record<Mode, Measure>> = {
  agent: { SHADOW: 'agents', ENFORCE: 'enforced_agents' },
  merchant: { SHADOW: 'merchants', ENFORCE: 'enforced_merchants' },
};

const ofMode = (measures: Record<Mode, Measure>, mode: Mode | undefined): readonly Measure[] =>
  mode === undefined ? Object.values(measures) : [measures[mode]];

/** The counters of a period. */
export interface SpendingCounters {
  /** They count each decision once. */
  all: ReportCounter[];
  /** They count each decision once, by the name of its part. */
  parts: ReportCounter[];
}

/** The counters of these days, day by day, without what they say of reasons. */
async function loadTotals(
  db: Queryable,
  workspace_id: string,
  range: DayRange,
  measures: readonly Measure[],
): Promise<ReportCounter[]> {
  const result = await db.query<CounterRow & { workspace_id: string }>({
    name: 'load_spending_totals',
    text: `select slice, measure, day, decision, '' as name, currency, sum(count)::bigint as count,
        sum(amount_minor) as amount_minor, '{}'::text[] as newest_ids
      from unnest($5::text[]) as m(wanted)
      join report_counters on workspace_id = $1 and slice = $2 and measure = wanted and day >= $3 and day < $4
      group by slice, measure, day, decision, currency`,
    values: [workspace_id, range.slice, range.first, range.end, measures],
  });
  return result.rows.map(withAmount);
}

/**
 * The counters of the parts with the largest amounts of each currency in these days, day by day, and of those named in `also`:
 * with these the result is enough to find the largest `max` of both together.
 */
async function loadParts(
  db: Queryable,
  workspace_id: string,
  range: DayRange,
  options: { measures: readonly Measure[]; max: number; also: readonly string[]; only: boolean },
): Promise<ReportCounter[]> {
  const result = await db.query<CounterRow & { workspace_id: string }>({
    name: 'load_spending_parts',
    text: `with days as materialized (
        select measure, day, decision, name, currency, count, amount_minor from unnest($7::text[]) as m(wanted)
        join report_counters on workspace_id = $1 and slice = $2 and measure = wanted and day >= $3 and day < $4),
      ranked as (
        select currency, name, row_number() over (partition by currency order by sum(amount_minor) desc, name) as place
        from days group by currency, name)
      select $2::text as slice, measure, day, decision, name, currency, count, amount_minor, '{}'::text[] as newest_ids
      from days where name = any($6::text[])
        or (not $8 and (currency, name) in (select currency, name from ranked where place <= $5))`,
    values: [
      workspace_id,
      range.slice,
      range.first,
      range.end,
      options.max,
      options.also,
      options.measures,
      options.only,
    ],
  });
  return result.rows.map(withAmount);
}

const namesOf = (counters: readonly ReportCounter[]) => [...new Set(counters.map(({ name }) => name))];

/** Loads one period. `only`: the parts with these names, and no others. */
async function loadPeriod(
  client: Client,
  workspace_id: string,
  asked: SpendingAsked & { from_ms: number; to_ms: number },
  only: readonly string[] | null,
): Promise<SpendingCounters> {
  const { agent_id, by, mode } = asked;
  const all_measures = ofMode(ALL, mode);
  const slice = agent_id ?? ALL_AGENTS;
  // Of one agent there are no counters by agent: all is its own.
  const measures = by === 'agent' && agent_id !== null ? [] : ofMode(PARTS[by], mode);
  const period = wholeDays(asked.from_ms, asked.to_ms);
  const counted = await countDirectly(client, workspace_id, { agent_id, ...period });
  const all = counted.filter(({ measure }) => all_measures.includes(measure));
  const parts = counted.filter(
    ({ measure, name }) => measures.includes(measure) && (only === null || only.includes(name)),
  );
  if (period.days !== null) {
    const range = { slice, ...period.days };
    all.push(...(await loadTotals(client, workspace_id, range, all_measures)));
    if (measures.length > 0) {
      const also = only ?? namesOf(parts);
      const { max_parts: max } = asked;
      parts.push(
        ...(await loadParts(client, workspace_id, range, { measures, max, also, only: only !== null })),
      );
    }
  }
  if (by === 'agent' && agent_id !== null) parts.push(...all.map((each) => ({ ...each, name: agent_id })));
  return { all, parts };
}

/**
 * Loads the counters of a spending report on the decisions made from `from` up to, but not including, `to` (ISO UTC), and of
 * the period of the same length before it, from one snapshot; exact, as the other reports. Throws `unavailable` where the
 * follower is too far behind.
 */
export async function loadSpending(
  pool: pg.Pool,
  workspace_id: string,
  asked: SpendingAsked & { from: string; to: string },
): Promise<{ now: SpendingCounters; before: SpendingCounters }> {
  const [from_ms, to_ms] = [Date.parse(asked.from), Date.parse(asked.to)];
  return inTransaction(pool, { reading: true }, async (client) => {
    const now = await loadPeriod(client, workspace_id, { ...asked, from_ms, to_ms }, asked.names ?? null);
    const earlier = { ...asked, from_ms: from_ms - (to_ms - from_ms), to_ms: from_ms };
    return {
      now,
      before: await loadPeriod(client, workspace_id, earlier, asked.names ?? namesOf(now.parts)),
    };
  });
}
