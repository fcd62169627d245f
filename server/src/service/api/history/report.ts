import type { Authority } from '@purser/contract/authority';
import { routes } from '@purser/contract/routes/history/report';
import type { Agent } from '@purser/rules/domain/agents';
import { NO_FACTS } from '@purser/rules/domain/spend-facts';
import { ApiError, invalidField } from '@purser/rules/errors';
import { directoryAt, EMPTY_DIRECTORY } from '@purser/rules/merchants/directory';
import { missingList } from '@purser/rules/policy/authority-problem';
import type pg from 'pg';
import { getAgent } from '../../../engine/storage/agents.ts';
import { getAuthority, parseAuthority } from '../../../engine/storage/authorities.ts';
import { loadAnswers } from '../../../engine/storage/derived/questions.ts';
import { listImportIds } from '../../../engine/storage/history/imports.ts';
import type { LineFilters } from '../../../engine/storage/history/lines.ts';
import { loadEntriesOfAgent } from '../../../engine/storage/merchant-entries.ts';
import { readReplayedLines } from '../../history/replay/load-lines.ts';
import type { Known } from '../../history/replay/replay-job.ts';
import type { ReplayThread } from '../../history/replay/replay-thread.ts';
import { type Call, type Handler, type Route, serve } from '../../http/route.ts';
import type { Turns } from '../../scheduling/turns.ts';

export interface ReportRouteOptions {
  db: pg.Pool;
  lists_db: pg.Pool;
  replays: Pick<ReplayThread, 'run'>;
  turns: Turns;
}

const KEEP_SHARE = 0.97;
const REVIEWS_PER_WEEK = 2;
/** The currency of a proposal without lines, filter and policy. */
const DEFAULT_CURRENCY = 'USD';

interface Filter {
  imports?: string[] | undefined;
  agent?: string | undefined;
  feed?: string | undefined;
  currency?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** The routes of what lines say together. */
export function makeReportRoutesOfLines(options: ReportRouteOptions): Route[] {
  return [
    serve(routes.replayHistory, { takes_long: true, shares: 'simulations' })(handleReplay(options)),
    serve(routes.proposeFromHistory, { takes_long: true, shares: 'simulations' })(handleProposal(options)),
    serve(routes.listAnomalies, { takes_long: true, shares: 'simulations' })(handleAnomalies(options)),
  ];
}

/** Aborted when the request ends: a job that nobody waits for any more is stopped. */
function endOf({ onEnd }: Pick<Call, 'onEnd'>): AbortSignal {
  const ended = new AbortController();
  onEnd(() => ended.abort());
  return ended.signal;
}

async function findAgent(db: pg.Pool, workspace_id: string, ref: string): Promise<Agent> {
  const agent = await getAgent(db, workspace_id, ref);
  if (agent === undefined) throw new ApiError('not_found', 'No such agent.');
  return agent;
}

async function checkImports(db: pg.Pool, workspace_id: string, imports: readonly string[]): Promise<void> {
  const known = await listImportIds(db, workspace_id, imports);
  const unknown = imports.find((each) => !known.has(each));
  if (unknown !== undefined) throw new ApiError('not_found', `No such import: ${unknown}.`);
}

/** The agent that a filter names, and the lines of the filter. */
async function select(
  { db, lists_db, turns }: ReportRouteOptions,
  workspace_id: string,
  { agent: ref, imports, feed, currency, from, to }: Filter,
): Promise<{ agent: Agent | null; pages: ReturnType<typeof readReplayedLines> }> {
  const agent = ref === undefined || ref === 'none' ? null : await findAgent(db, workspace_id, ref);
  if (imports !== undefined) await checkImports(db, workspace_id, imports);
  const filters: LineFilters = {
    ...(imports === undefined ? {} : { imports }),
    ...(feed === undefined ? {} : { feed: [feed] }),
    ...(currency === undefined ? {} : { currency: [currency] }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(ref === 'none' ? { agent_ids: [] } : agent === null ? {} : { agent_ids: [agent.agent_id] }),
  };
  return { agent, pages: readReplayedLines(lists_db, workspace_id, filters, turns.pause) };
}

/** Everything that people said of an agent's merchants and questions; nothing without an agent. */
async function knowledgeOf(db: pg.Pool, workspace_id: string, agent: Agent | null): Promise<Known> {
  if (agent === null) return { directory: EMPTY_DIRECTORY, facts: NO_FACTS };
  const entries = await loadEntriesOfAgent(db, workspace_id, agent.agent_id);
  const directory = directoryAt(agent.directory_version, entries);
  const { answers } = await loadAnswers(db, workspace_id, agent.agent_id);
  return { directory, facts: { ...NO_FACTS, listed: directory.listed, answers } };
}

function handleReplay(options: ReportRouteOptions): Handler<typeof routes.replayHistory> {
  const { db, replays } = options;
  return async (call) => {
    const { workspace_id } = call.caller;
    const { authority: draft, filter = {} } = call.body;
    const { agent, pages } = await select(options, workspace_id, filter);
    const missing = missingList(draft, agent?.directory_version ?? 0);
    if (missing !== null) throw invalidField(`authority.${missing.field}`, missing.problem);
    const known = await knowledgeOf(db, workspace_id, agent);
    const result = await replays.run({ kind: 'replay', draft, known }, pages, endOf(call));
    return { status: 200, body: { saved: false, ...result } };
  };
}

/** The policy that a proposal begins with: the agent's, or one of the purpose alone. */
async function baseOf(
  db: pg.Pool,
  workspace_id: string,
  given: { agent: Agent | null; purpose: Authority['purpose'] | undefined },
): Promise<{
  authority: Authority | null;
  version: { version: number; hash: string } | null;
  purpose: Authority['purpose'];
}> {
  const row =
    given.agent === null ? undefined : await getAuthority(db, workspace_id, given.agent.agent_id, null);
  const authority = row === undefined ? null : parseAuthority(row);
  const purpose = given.purpose ?? authority?.purpose;
  if (purpose === undefined)
    throw invalidField('purpose', 'is required: say what the agent is for, or name an agent with a policy');
  return { authority, purpose, version: row === undefined ? null : { version: row.version, hash: row.hash } };
}

function handleProposal(options: ReportRouteOptions): Handler<typeof routes.proposeFromHistory> {
  const { db, replays } = options;
  return async (call) => {
    const { caller, body } = call;
    const { workspace_id } = caller;
    const { filter = {}, keep_share = KEEP_SHARE, reviews_per_week = REVIEWS_PER_WEEK } = body;
    const agent = body.agent === undefined ? null : await findAgent(db, workspace_id, body.agent);
    const base = await baseOf(db, workspace_id, { agent, purpose: body.purpose });
    // Lines of an import need not be the agent's yet.
    const is_chosen = filter.imports !== undefined || filter.feed !== undefined || filter.agent !== undefined;
    const wanted = is_chosen || agent === null ? filter : { ...filter, agent: agent.agent_id };
    const { pages } = await select(options, workspace_id, wanted);
    const known = await knowledgeOf(db, workspace_id, agent);
    const { authority: current, purpose } = base;
    const default_currency = filter.currency ?? current?.currency ?? DEFAULT_CURRENCY;
    const aims = { keep_share, reviews_per_week };
    const job = { kind: 'proposal' as const, current, purpose, default_currency, aims, known };
    const proposal = await replays.run(job, pages, endOf(call));
    return { status: 200, body: { saved: false, base: base.version, ...proposal } };
  };
}

function handleAnomalies(options: ReportRouteOptions): Handler<typeof routes.listAnomalies> {
  const { db, replays } = options;
  return async (call) => {
    const { workspace_id } = call.caller;
    const { threshold_minor, import: of_import, ...filter } = call.query;
    const imports = of_import === undefined ? {} : { imports: [of_import] };
    const { agent, pages } = await select(options, workspace_id, { ...filter, ...imports });
    const row = agent === null ? undefined : await getAuthority(db, workspace_id, agent.agent_id, null);
    const { review_threshold_minor, per_transaction_limit_minor } =
      row === undefined ? {} : parseAuthority(row);
    const threshold = threshold_minor ?? review_threshold_minor ?? per_transaction_limit_minor ?? null;
    const job = { kind: 'anomalies' as const, threshold_minor: threshold };
    const data = await replays.run(job, pages, endOf(call));
    return { status: 200, body: { data, next_cursor: null } };
  };
}
