import { type LineState, MAX_NEVER_ASKED } from '@purser/contract/values/coverage';
import { coverageSettings } from '@purser/rules/matching/settings';
import { DEFAULT_COVERAGE } from '@purser/rules/matching/spends';
import type { Queryable } from '../storage/database.ts';
import { stateNow } from '../storage/history/lines.ts';
import { Parameters } from '../storage/pages.ts';

/** The lines of a coverage report. */
export interface CoverageFilters {
  from?: string | undefined;
  to?: string | undefined;
  agent_id?: string | undefined;
  feed?: string | undefined;
  currency?: string | undefined;
  grace_seconds: number;
}

/** A sum of lines that have these fields in common. */
export interface CoverageSum {
  currency: string;
  day: string;
  agent_id: string | null;
  slug: string | null;
  feed: string;
  state: LineState;
  lines: number;
  amount_minor: number;
}

/** SQL: the rows `m` that pass the filters. */
function matchesOf(workspace_id: string, filters: CoverageFilters, parameters: Parameters): string {
  const { from, to, agent_id, feed, currency } = filters;
  const when = (value: unknown, condition: (name: string) => string) =>
    value === undefined ? '' : ` and ${condition(parameters.add(value))}`;
  return `line_matches m where m.workspace_id = ${parameters.add(workspace_id)} and m.line_id <> ''
    ${when(from, (name) => `m.occurred_at >= ${name}`)}${when(to, (name) => `m.occurred_at < ${name}`)}
    ${when(agent_id, (name) => `m.agent_id = ${name}`)}${when(feed, (name) => `m.feed = ${name}`)}
    ${when(currency, (name) => `m.currency = ${name}`)}`;
}

/** Adds up the lines that pass the filters, as of now. Sums beyond the safe integers are cut to the largest one. */
export async function sumCoverage(
  db: Queryable,
  workspace_id: string,
  filters: CoverageFilters,
): Promise<CoverageSum[]> {
  const parameters = new Parameters();
  const grace = parameters.add(filters.grace_seconds);
  const result = await db.query<CoverageSum>({
    text: `select s.*, g.slug from (
        select m.currency, to_char(m.occurred_at at time zone 'UTC', 'YYYY-MM-DD') as day, m.agent_id, m.feed,
          ${stateNow(grace)} as state, count(*) as lines,
          least(sum(m.amount_minor), ${Number.MAX_SAFE_INTEGER})::bigint as amount_minor
        from ${matchesOf(workspace_id, filters, parameters)} and m.state <> 'HISTORY' group by 1, 2, 3, 4, 5) as s
      left join agents g on g.workspace_id = ${parameters.add(workspace_id)} and g.agent_id = s.agent_id
      order by s.day, s.currency`,
    values: parameters.values,
  });
  return result.rows;
}

/** Returns the ids of the largest lines that nobody asked for, the largest of each currency first. */
export async function largestNeverAsked(
  db: Queryable,
  workspace_id: string,
  filters: CoverageFilters,
): Promise<string[]> {
  const parameters = new Parameters();
  const grace = parameters.add(filters.grace_seconds);
  const result = await db.query<{ line_id: string }>({
    text: `select m.line_id from ${matchesOf(workspace_id, filters, parameters)} and m.state = 'NEVER_ASKED'
        and ${stateNow(grace)} = 'NEVER_ASKED'
      order by row_number() over (partition by m.currency order by m.amount_minor desc, m.line_id), m.currency
      limit ${MAX_NEVER_ASKED}`,
    values: parameters.values,
  });
  return result.rows.map(({ line_id }) => line_id);
}

/** Counts the lines of all workspaces by their state, as of now; a state without lines is left out. */
export async function countCoverage(db: Queryable): Promise<{ state: LineState; lines: number }[]> {
  const own = await db.query<{ workspace_id: string; coverage: string }>({
    name: 'list_own_coverage',
    text: 'select workspace_id, coverage from workspaces where coverage is not null',
  });
  const result = await db.query<{ state: LineState; lines: number }>({
    name: 'count_coverage',
    text: `select ${stateNow('coalesce(g.grace_seconds, $3)')} as state, count(*) as lines
      from line_matches m
      left join unnest($1::text[], $2::integer[]) as g(workspace_id, grace_seconds) on g.workspace_id = m.workspace_id
      where m.workspace_id <> '' group by 1`,
    values: [
      own.rows.map(({ workspace_id }) => workspace_id),
      own.rows.map((row) => coverageSettings(row).grace_seconds),
      DEFAULT_COVERAGE.grace_seconds,
    ],
  });
  return result.rows;
}
