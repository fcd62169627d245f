import type { InstrumentBody, LineBody } from '@purser/contract/history/lines';
import { routes } from '@purser/contract/routes/history/lines';
import { ApiError } from '@purser/rules/errors';
import { SINCE_EVER } from '@purser/rules/imports/import-rows';
import { coverageSettings } from '@purser/rules/matching/settings';
import type pg from 'pg';
import { assignInstrument } from '../../../engine/commands/history/assign-instrument.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import { getAgent } from '../../../engine/storage/agents.ts';
import type { Queryable } from '../../../engine/storage/database.ts';
import {
  type FoundInstrument,
  type FoundLine,
  findLines,
  getInstrument,
  getLines,
  type LineFilters,
  listInstruments,
} from '../../../engine/storage/history/lines.ts';
import { loadWorkspace } from '../../../engine/storage/workspaces.ts';
import { type Cursors, pageOf } from '../../http/cursors.ts';
import { type CallOf, type Handler, type Route, serve } from '../../http/route.ts';
import { originOf } from '../../people/callers.ts';

export interface LineRouteOptions {
  db: pg.Pool;
  lists_db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
}

const agentOf = (agent_id: string | null, slug: string | null) =>
  agent_id === null || slug === null ? null : { id: agent_id, slug };

/** A line as the API shows it. */
export function lineBody(line: FoundLine): LineBody {
  const { agent_id, slug, authorization_id, state, rule, decision_id, resolution_id, ...shown } = line;
  return {
    line_id: shown.line_id,
    feed: shown.feed,
    import_id: shown.import_id,
    rail_id: shown.rail_id,
    line_number: shown.line_number,
    kind: shown.kind,
    merchant: shown.merchant,
    payee_id: shown.payee_id,
    instrument: shown.instrument,
    amount_minor: shown.amount_minor,
    currency: shown.currency,
    merchant_amount_minor: shown.merchant_amount_minor,
    merchant_currency: shown.merchant_currency,
    occurred_at: shown.occurred_at,
    precision: shown.precision,
    external_reference: shown.external_reference,
    authorization: authorization_id,
    description: shown.description,
    category: shown.category,
    agent: agentOf(agent_id, slug),
    coverage: state === null ? null : { state, rule, decision_id, resolution_id },
    observed_decision_id: shown.observed_decision_id,
    recorded_at: shown.recorded_at,
  };
}

const instrumentBody = ({ instrument, agent_id, slug, from_at, lines }: FoundInstrument): InstrumentBody => ({
  instrument,
  agent: agentOf(agent_id, slug),
  from: from_at === null || from_at === SINCE_EVER ? null : from_at,
  lines,
});

/** How long after a payment it is not yet called unasked, in seconds. */
export async function graceOf(db: Queryable, workspace_id: string): Promise<number> {
  const workspace = await loadWorkspace(db, workspace_id);
  return coverageSettings(workspace ?? { coverage: null }).grace_seconds;
}

/** The routes of lines, and of whose their instruments are. */
export function makeLineRoutes(options: LineRouteOptions): Route[] {
  return [
    serve(routes.listLines, { shares: 'lists' })(handleList(options)),
    serve(routes.getLine, { shares: 'reads' })(async ({ caller, params }) => {
      const grace_seconds = await graceOf(options.db, caller.workspace_id);
      const [line] = await getLines(options.db, caller.workspace_id, [params.id], grace_seconds);
      if (line === undefined) throw new ApiError('not_found', 'No such line.');
      return { status: 200, body: lineBody(line) };
    }),
    serve(routes.listInstruments, { shares: 'lists' })(handleInstruments(options)),
    serve(routes.assignInstrument, { names_instrument: true })(handleAssign(options)),
  ];
}

type LineQuery = CallOf<typeof routes.listLines>['query'];

/** The filters of a query; an agent becomes its id. Throws `not_found` where there is no such agent. */
export async function lineFilters(
  db: Queryable,
  workspace_id: string,
  { agent, import: of_import, ...rest }: Omit<LineQuery, 'limit' | 'cursor'>,
): Promise<LineFilters> {
  const filters = of_import === undefined ? rest : { ...rest, imports: [of_import] };
  if (agent === undefined) return filters;
  if (agent === 'none') return { ...filters, agent_ids: [] };
  const found = await getAgent(db, workspace_id, agent);
  if (found === undefined) throw new ApiError('not_found', 'No such agent.');
  return { ...filters, agent_ids: [found.agent_id] };
}

function handleList({ db, lists_db, cursors }: LineRouteOptions): Handler<typeof routes.listLines> {
  return async ({ caller: { workspace_id }, query: { limit = 50, cursor, ...query } }) => {
    const list = ['listLines', workspace_id, query];
    const after = cursors.open(list, cursor) as string | null;
    const filters = await lineFilters(db, workspace_id, query);
    const grace_seconds = await graceOf(db, workspace_id);
    const { rows, next } = await findLines(lists_db, workspace_id, filters, { after, limit }, grace_seconds);
    const next_cursor = next === null ? null : cursors.seal(list, next);
    return { status: 200, body: { data: rows.map(lineBody), next_cursor } };
  };
}

function handleInstruments({ lists_db, cursors }: LineRouteOptions): Handler<typeof routes.listInstruments> {
  return async ({ caller: { workspace_id }, query: { limit = 50, cursor } }) => {
    const list = ['listInstruments', workspace_id];
    const after = (cursors.open(list, cursor) as string | null) ?? '';
    const found = await listInstruments(lists_db, workspace_id, { after, limit: limit + 1 });
    const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.instrument));
    return { status: 200, body: { data: rows.map(instrumentBody), next_cursor } };
  };
}

function handleAssign({ db, lane }: LineRouteOptions): Handler<typeof routes.assignInstrument> {
  return async (call) => {
    const { workspace_id } = call.caller;
    const { instrument } = call.params;
    const { agent, from = null } = call.body;
    await lane.submit(workspace_id, assignInstrument, { instrument, agent, from }, originOf(call));
    return { status: 200, body: instrumentBody(await getInstrument(db, workspace_id, instrument)) };
  };
}
