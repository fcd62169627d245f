import type { ListQuery } from '@purser/contract/decision-filters';
import type { Decision } from '@purser/contract/decisions';
import type { Label } from '@purser/contract/records';
import { COLUMNS, EXPORT_TYPES, routes } from '@purser/contract/routes/decision-reads';
import { LABELS } from '@purser/contract/values/decisions';
import { allowanceOf, type Caller } from '@purser/rules/domain/keys';
import { ApiError, invalidField } from '@purser/rules/errors';
import { csvLine } from '@purser/rules/values/csv';
import { linesInSlices } from '@purser/rules/values/slices';
import type pg from 'pg';
import type { Static } from 'typebox';
import { AS_LISTED, AS_RECORDS, type DecisionRecord } from '../../engine/storage/decisions.ts';
import {
  type DecisionFilters,
  type DecisionOrder,
  type DecisionPage,
  findDecisions,
} from '../../engine/storage/find-decisions.ts';
import { readAhead } from '../../engine/storage/pages.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import type { FindAgentId } from '../decisions/authority-cache.ts';
import { peopleTable } from '../decisions/people-table.ts';
import { agentScopeOf, type DecisionView } from '../decisions/present-decisions.ts';
import type { Cursors } from '../http/cursors.ts';
import { type Handler, type Route, serve, storedJson } from '../http/route.ts';
import type { Turns } from '../scheduling/turns.ts';
import { attachment } from './tables/csv-answers.ts';

/** Decisions read at a time; fewer if they add up to about a megabyte. */
const EXPORTED_AT_ONCE = 200;

const csvOf = (decision: Decision): string => {
  const cells = { ...decision, agent: decision.agent.slug, merchant: decision.action.merchant };
  return csvLine(COLUMNS.map((column) => cells[column]));
};

type Filtered = Omit<Static<typeof ListQuery>, 'limit' | 'cursor'>;

/** A kind of file: how it begins, and what writes the decisions of a page. */
interface ExportForm {
  head: string | null;
  linesOf: (page: readonly Decision[]) => Promise<(decision: Decision) => string>;
}

const MACHINE_FORMS: Record<keyof typeof EXPORT_TYPES, ExportForm> = {
  csv: { head: csvLine(COLUMNS), linesOf: async () => csvOf },
  jsonl: { head: null, linesOf: async () => (decision) => `${JSON.stringify(decision)}\n` },
};

/** The decisions that a query selects, and their order; null if the caller may see none. */
interface Search {
  filters: DecisionFilters;
  order: DecisionOrder;
}

/** The interval at which a decision is read again while a request waits for it to change. */
const LOOK_AGAIN_MS = 500;

/** Returns the parts of a decision whose change ends a wait, as text. */
const changesOf = ({ review_state, review, outcome_state, verified }: Decision): string =>
  [review_state, review?.review_id, outcome_state, verified].join(' ');

export interface DecisionReadOptions {
  /** A filter may have to look at very many decisions. */
  lists_db: pg.Pool;
  cursors: Cursors;
  findAgentId: FindAgentId;
  view: DecisionView;
  turns: Turns;
}

/** Makes the routes that read decisions: one, page by page, and all at once. */
export function makeDecisionReadRoutes(options: DecisionReadOptions): Route[] {
  return [
    // It holds a capability's token beside the agent's own words.
    serve(routes.getDecision, { shows_secret: true })(handleGet(options)),
    serve(routes.listDecisions, { shares: 'lists' })(handleList(options)),
    serve(routes.exportDecisions, { takes_long: true, shares: 'exports' })(handleExport(options)),
  ];
}

function handleGet({ view }: DecisionReadOptions): Handler<typeof routes.getDecision> {
  return async (call) => {
    const find = async () => {
      const found = await view.find(call.caller, call.params.id);
      if (found === undefined) throw new ApiError('not_found', 'No such decision.');
      return found;
    };
    let found = await find();
    const before = changesOf(found);
    for (let waits = ((call.query.wait_seconds ?? 0) * 1000) / LOOK_AGAIN_MS; waits > 0; waits--) {
      if (changesOf(found) !== before || !(await call.hold(LOOK_AGAIN_MS))) break;
      found = await find();
    }
    return { status: 200, body: found };
  };
}

function handleList(options: DecisionReadOptions): Handler<typeof routes.listDecisions> {
  const { lists_db, cursors, view } = options;
  return async ({ caller, query }) => {
    const { limit = 50, cursor, ...asked } = query;
    const { agent = null, order = 'desc', ...rest } = asked;
    const seen_by = [agentScopeOf(caller), allowanceOf(caller)];
    const list = ['listDecisions', caller.workspace_id, ...seen_by, agent, order, rest];
    const after = cursors.open(list, cursor) as string | null;
    const search = await searchOf(options, caller, asked);
    if (search === null) return { status: 200, body: { data: [], next_cursor: null } };
    const { filters } = search;
    const page = { order: search.order, after, limit };
    const { rows, next } = await findDecisions(lists_db, caller.workspace_id, filters, page, AS_LISTED);
    const next_cursor = next === null ? null : cursors.seal(list, next);
    return { status: 200, json: storedJson(await view.pageOf(caller, rows, next_cursor)) };
  };
}

interface Asked {
  format: keyof typeof EXPORT_TYPES;
  audience: Static<typeof routes.exportDecisions.query>['audience'] | undefined;
  context: string | undefined;
}

/** The form that a query asks for. Throws `invalid_request` for fields that do not go together. */
function formOf(
  { lists_db }: Pick<DecisionReadOptions, 'lists_db'>,
  caller: Caller,
  { format, audience, context }: Asked,
): ExportForm {
  if (audience === 'people') {
    if (format !== 'csv') throw invalidField('audience', 'goes with format=csv');
    return peopleTable(lists_db, caller, [...new Set(context?.split(',') ?? [])]);
  }
  if (context !== undefined) throw invalidField('context', 'goes with audience=people');
  return MACHINE_FORMS[format];
}

function handleExport(options: DecisionReadOptions): Handler<typeof routes.exportDecisions> {
  return async ({ caller, query: { format, audience, context, ...asked } }) => {
    const form = formOf(options, caller, { format, audience, context });
    const search = await searchOf(options, caller, asked);
    async function* chunks(): AsyncGenerator<string, void, void> {
      if (form.head !== null) yield form.head;
      if (search !== null) yield* exported(options, caller, search, form);
    }
    return {
      status: 200,
      stream: { chunks: chunks(), content_type: EXPORT_TYPES[format] },
      headers: attachment(`decisions-${caller.workspace_id}.${format}`),
    };
  };
}

async function searchOf(
  { findAgentId }: DecisionReadOptions,
  caller: Caller,
  { agent, order = 'desc', label, ...rest }: Filtered,
): Promise<Search | null> {
  const own = agentScopeOf(caller);
  const agent_id = agent === undefined ? undefined : await findAgentId(caller.workspace_id, agent);
  if (agent !== undefined && agent_id === undefined) return null;
  if (own !== null && agent_id !== undefined && agent_id !== own) return null;
  const wanted = own ?? agent_id;
  const bound = allowanceOf(caller);
  const filters = {
    ...rest,
    ...labelFilters(label),
    ...(wanted === undefined ? {} : { agent_id: wanted }),
    ...(bound === null ? {} : { within_allowance: bound }),
  };
  return { filters, order };
}

/** Labels of decisions, and those of their allowances, which have a colon. */
function labelFilters(asked: readonly string[] = []): Pick<DecisionFilters, 'label' | 'allowance_label'> {
  const label = asked.filter((each): each is Label['label'] => LABELS.some((one) => one === each));
  const allowance_label = asked.filter((each) => each.includes(':'));
  return {
    ...(label.length === 0 ? {} : { label }),
    ...(allowance_label.length === 0 ? {} : { allowance_label }),
  };
}

/** All that is found, page by page, as text. What is made after the export began is not in it. */
async function* exported(
  { lists_db, view, turns }: DecisionReadOptions,
  caller: Caller,
  { filters, order }: Search,
  { linesOf }: ExportForm,
): AsyncGenerator<string, void, void> {
  const begun = new Date((await readClock(lists_db)) + 1).toISOString();
  const to = filters.to === undefined || filters.to > begun ? begun : filters.to;
  const pages = readAhead(async (before?: DecisionPage<DecisionRecord>) => {
    if (before?.next === null) return undefined;
    await turns.pause();
    const page = { order, after: before?.next ?? null, limit: EXPORTED_AT_ONCE };
    return findDecisions(lists_db, caller.workspace_id, { ...filters, to }, page, AS_RECORDS);
  });
  for await (const { rows } of pages) {
    const shown = await view.present(caller, rows);
    if (shown.length > 0) yield (await linesInSlices(shown, await linesOf(shown), turns.pause)).join('');
  }
}
