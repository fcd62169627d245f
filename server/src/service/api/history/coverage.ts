import type { CoverageReportBody, CoverageSums } from '@purser/contract/history/coverage';
import { CSV_TYPE } from '@purser/contract/route';
import { routes } from '@purser/contract/routes/history/coverage';
import type { COUNTED_STATES } from '@purser/contract/values/coverage';
import { ApiError, invalidField } from '@purser/rules/errors';
import { csvLine } from '@purser/rules/values/csv';
import { valueIn } from '@purser/rules/values/maps';
import { addMinor } from '@purser/rules/values/money';
import type pg from 'pg';
import { createLineResolution } from '../../../engine/commands/matching/create-line-resolution.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import {
  type CoverageFilters,
  type CoverageSum,
  largestNeverAsked,
  sumCoverage,
} from '../../../engine/matching/coverage-report.ts';
import { listLineResolutions } from '../../../engine/matching/resolution-rows.ts';
import { readDecision } from '../../../engine/questions/answers-of-records.ts';
import { getAgent } from '../../../engine/storage/agents.ts';
import { getDecision } from '../../../engine/storage/decisions.ts';
import { listDeletedImports } from '../../../engine/storage/history/imports.ts';
import { getLines } from '../../../engine/storage/history/lines.ts';
import { type Handler, type Route, serve } from '../../http/route.ts';
import { originOf } from '../../people/callers.ts';
import { attachment, wantsCsv } from '../tables/csv-answers.ts';
import { graceOf, lineBody } from './lines.ts';

export interface CoverageRouteOptions {
  db: pg.Pool;
  reports_db: pg.Pool;
  lane: Lane;
}

/** Resolutions of one line are read whole, up to this many. */
const MAX_RESOLUTIONS = 200;

/** The routes of whether lines were asked for. */
export function makeCoverageRoutes(options: CoverageRouteOptions): Route[] {
  return [
    serve(routes.createLineResolution)(handleCreate(options)),
    serve(routes.listLineResolutions, { shares: 'reads' })(handleList(options)),
    serve(routes.getCoverageReport, { takes_long: true, shares: 'reports' })(handleReport(options)),
  ];
}

function handleCreate({ db, lane }: CoverageRouteOptions): Handler<typeof routes.createLineResolution> {
  return async (call) => {
    const { workspace_id } = call.caller;
    const { action, decision_id = null, comment = null } = call.body;
    if (action === 'MATCH' && decision_id === null)
      throw invalidField('decision_id', 'is required: name the decision that asked for the line');
    if (action !== 'MATCH' && decision_id !== null) throw invalidField('decision_id', 'goes with MATCH only');
    const decision =
      decision_id === null ? undefined : (await getDecision(db, workspace_id, decision_id, null))?.decision;
    const { requesting_key_id } = readDecision(decision);
    const input = { line_id: call.params.id, action, decision_id, requesting_key_id, comment };
    return {
      status: 201,
      body: await lane.submit(workspace_id, createLineResolution, input, originOf(call)),
    };
  };
}

function handleList({ db }: CoverageRouteOptions): Handler<typeof routes.listLineResolutions> {
  return async ({ caller: { workspace_id }, params: { id } }) => {
    const [line] = await getLines(db, workspace_id, [id], 0);
    if (line === undefined) throw new ApiError('not_found', 'No such line.');
    const data = await listLineResolutions(db, workspace_id, id, MAX_RESOLUTIONS);
    return { status: 200, body: { data, next_cursor: null } };
  };
}

type Counted = (typeof COUNTED_STATES)[number];
/** The fields of the states that a report counts. */
const FIELD_OF: Record<
  Counted,
  Exclude<keyof CoverageSums, 'currency' | 'asked_share' | 'asked_share_lines'>
> = {
  ASKED: 'asked',
  LATE: 'late',
  REFUSED: 'refused',
  NEVER_ASKED: 'never_asked',
  WAITING: 'waiting',
  EXCLUDED: 'excluded',
};

const noSums = (currency: string): CoverageSums => ({
  currency,
  asked: { lines: 0, amount_minor: 0 },
  late: { lines: 0, amount_minor: 0 },
  refused: { lines: 0, amount_minor: 0 },
  never_asked: { lines: 0, amount_minor: 0 },
  waiting: { lines: 0, amount_minor: 0 },
  excluded: { lines: 0, amount_minor: 0 },
  asked_share: null,
  asked_share_lines: null,
});

function withShares(sums: CoverageSums): CoverageSums {
  const { asked, late, refused, never_asked } = sums;
  const all = [asked, late, refused, never_asked];
  const lines = all.reduce((sum, each) => sum + each.lines, 0);
  const amount_minor = all.reduce((sum, each) => sum + each.amount_minor, 0);
  return {
    ...sums,
    asked_share: amount_minor === 0 ? null : asked.amount_minor / amount_minor,
    asked_share_lines: lines === 0 ? null : asked.lines / lines,
  };
}

/** Adds up by a field, and by currency within it, in the order in which they come. */
function sumBy<T>(
  rows: readonly CoverageSum[],
  fieldOf: (row: CoverageSum) => { key: string; field: T } | null,
): (T & CoverageSums)[] {
  const groups = new Map<string, { field: T; sums: CoverageSums }>();
  for (const row of rows) {
    const of_row = fieldOf(row);
    const name = FIELD_OF[row.state as Counted];
    if (of_row === null || name === undefined) continue;
    const { field, key } = of_row;
    const make = () => ({ field, sums: noSums(row.currency) });
    const { sums } = valueIn(groups, `${key} ${row.currency}`, make);
    sums[name].lines += row.lines;
    sums[name].amount_minor = addMinor(sums[name].amount_minor, row.amount_minor);
  }
  return [...groups.values()].map(({ field, sums }) => ({ ...field, ...withShares(sums) }));
}

const byDay = (rows: readonly CoverageSum[]) => sumBy(rows, ({ day }) => ({ key: day, field: { day } }));

const COLUMNS = [
  'day',
  'currency',
  ...Object.values(FIELD_OF).flatMap((name) => [`${name}_lines`, `${name}_minor`]),
  'asked_share',
  'asked_share_lines',
];

/** The days as a table. */
function csvOf(rows: readonly CoverageSum[]): string {
  const lines = byDay(rows).map((sums) => [
    sums.day,
    sums.currency,
    ...Object.values(FIELD_OF).flatMap((name) => [sums[name].lines, sums[name].amount_minor]),
    sums.asked_share,
    sums.asked_share_lines,
  ]);
  return [COLUMNS, ...lines].map((cells) => csvLine(cells)).join('');
}

function handleReport(options: CoverageRouteOptions): Handler<typeof routes.getCoverageReport> {
  const { db, reports_db } = options;
  return async ({ caller: { workspace_id }, query: { agent: ref, ...query }, headers }) => {
    const agent = ref === undefined ? undefined : await getAgent(db, workspace_id, ref);
    if (ref !== undefined && agent === undefined) throw new ApiError('not_found', 'No such agent.');
    const grace_seconds = await graceOf(db, workspace_id);
    const filters: CoverageFilters = { ...query, agent_id: agent?.agent_id, grace_seconds };
    const rows = await sumCoverage(reports_db, workspace_id, filters);
    if (wantsCsv(headers))
      return {
        status: 200,
        text: { content: csvOf(rows), content_type: CSV_TYPE },
        headers: attachment('coverage.csv'),
      };
    const largest = await largestNeverAsked(reports_db, workspace_id, filters);
    const lines = await getLines(reports_db, workspace_id, largest, grace_seconds);
    const by_id = new Map(lines.map((line) => [line.line_id, line]));
    const body: CoverageReportBody = {
      totals: sumBy(rows, () => ({ key: '', field: {} })),
      by_day: byDay(rows),
      by_agent: sumBy(rows, ({ agent_id, slug }) =>
        agent_id === null || slug === null
          ? null
          : { key: agent_id, field: { agent: { id: agent_id, slug } } },
      ),
      by_feed: sumBy(rows, ({ feed }) => ({ key: feed, field: { feed } })),
      never_asked: largest.flatMap((id) => {
        const line = by_id.get(id);
        return line === undefined ? [] : [lineBody(line)];
      }),
      unassigned: rows.reduce(
        (sum, { state, lines: count }) => sum + (state === 'UNASSIGNED' ? count : 0),
        0,
      ),
      deleted_imports: (await listDeletedImports(reports_db, workspace_id)).size,
    };
    return { status: 200, body };
  };
}
