import { MAX_REPORT_LINES, MAX_REPORT_ROWS } from '@purser/contract/allowances/report';
import { CSV_TYPE } from '@purser/contract/route';
import { routes } from '@purser/contract/routes/reports';
import { ApiError } from '@purser/rules/errors';
import { csvLine } from '@purser/rules/values/csv';
import type pg from 'pg';
import { type LabelSums, sumByLabel } from '../../../engine/reports/read-allowance-report.ts';
import { getAgent } from '../../../engine/storage/agents.ts';
import type { Queryable } from '../../../engine/storage/database.ts';
import { readClock } from '../../../engine/storage/workspaces.ts';
import { type Route, serve } from '../../http/route.ts';
import { periodAsked } from '../reports/report-period.ts';
import { attachment, wantsCsv } from '../tables/csv-answers.ts';

const COLUMNS = [
  'value',
  'currency',
  'spends',
  'denied',
  'reviews',
  'held_minor',
  'committed_minor',
  'amount_cut',
  'open',
] as const satisfies readonly (keyof LabelSums)[];

/** Makes the route of the report by labels. `reports_db` has connections of its own, so that reports delay nothing else. */
export function makeAllowanceReport({ db, reports_db }: { db: Queryable; reports_db: pg.Pool }): Route {
  return serve(routes.getAllowanceReport, { takes_long: true, shares: 'reports' })(async (call) => {
    const { query, headers } = call;
    const { workspace_id } = call.caller;
    const clock_ms = await readClock(db);
    const period = periodAsked(query, clock_ms);
    const agent = query.agent === undefined ? null : await getAgent(db, workspace_id, query.agent);
    if (agent === undefined) throw new ApiError('not_found', 'No such agent.');
    const is_csv = wantsCsv(headers);
    const data = await sumByLabel(reports_db, workspace_id, {
      key: query.label,
      agent_id: agent?.agent_id ?? null,
      ...period,
      limit: is_csv ? MAX_REPORT_LINES : MAX_REPORT_ROWS,
    });
    if (is_csv) {
      const lines = data.map((row) => csvLine(COLUMNS.map((column) => row[column])));
      const content = [csvLine([...COLUMNS]), ...lines].join('');
      return {
        status: 200,
        text: { content, content_type: CSV_TYPE },
        headers: attachment('allowances.csv'),
      };
    }
    return {
      status: 200,
      body: {
        ...period,
        agent: agent === null ? null : { id: agent.agent_id, slug: agent.slug },
        generated_at: new Date(clock_ms).toISOString(),
        label: query.label,
        data,
        next_cursor: null,
      },
    };
  });
}
