import { CSV_TYPE } from '@purser/contract/route';
import { routes, type WorkspaceBody } from '@purser/contract/routes/workspace';
import { auditBody, withoutPersonal } from '@purser/rules/domain/audit';
import {
  agentQuota,
  decodeStop,
  mayEnforce,
  mayUseWebhooks,
  trialActive,
  type Workspace,
  type WorkspaceStop,
} from '@purser/rules/domain/workspace';
import { ApiError } from '@purser/rules/errors';
import { coverageSettings } from '@purser/rules/matching/settings';
import { csvLine } from '@purser/rules/values/csv';
import type pg from 'pg';
import type { Static } from 'typebox';
import { type StopWorkspaceInput, stopWorkspace } from '../../engine/commands/stop-workspace.ts';
import { updateWorkspace } from '../../engine/commands/update-workspace.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { countAgents } from '../../engine/storage/agents.ts';
import { type ListedAuditRecord, listAuditRecords } from '../../engine/storage/audit.ts';
import { getHead } from '../../engine/storage/ledger.ts';
import { loadWorkspace, readClock } from '../../engine/storage/workspaces.ts';
import type { Cursors } from '../http/cursors.ts';
import { type Call, type Handler, type Route, serve } from '../http/route.ts';
import { originOf } from '../people/callers.ts';
import { attachment, csvOfList, wantsCsv } from './tables/csv-answers.ts';

const COLUMNS = [
  'id',
  'created_at',
  'action',
  'actor_type',
  'key_id',
  'session_id',
  'principal_id',
  'target_type',
  'target_id',
  'changes',
  'request_id',
  'client_address',
];

const csvOf = (record: ListedAuditRecord): string => {
  const { actor, changes, request_id, client_address } = record;
  return csvLine([
    record.audit_id,
    record.created_at,
    record.action,
    actor.type,
    actor.key_id,
    actor.session_id,
    actor.principal_id,
    record.target_type,
    record.target_id,
    JSON.stringify(changes),
    request_id,
    client_address,
  ]);
};

export interface WorkspaceRouteOptions {
  db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
}

/** Makes the routes for the workspace and what was done in it. */
export function makeWorkspaceRoutes(options: WorkspaceRouteOptions): Route[] {
  return [
    serve(routes.getWorkspace, { shares: 'reads' })(handleGet(options)),
    serve(routes.updateWorkspace, {
      isWeighty: ({ body: { name, time_zone, coverage, ...changes } }) => Object.keys(changes).length > 0,
    })(handleUpdate(options)),
    serve(routes.stopWorkspace)(async (call) => stopOrResume(options, call, call.body)),
    serve(routes.resumeWorkspace)(async (call) => stopOrResume(options, call, { reason: null })),
    serve(routes.listAuditRecords, {
      // A file holds its turn until its reader has it.
      shares: (headers) => (wantsCsv(headers) ? 'exports' : 'reads'),
    })(handleListAuditRecords(options)),
  ];
}

function handleGet({ db }: WorkspaceRouteOptions): Handler<typeof routes.getWorkspace> {
  return async ({ caller: { workspace_id } }) => {
    const [workspace, stop] = await Promise.all([loadWorkspace(db, workspace_id), stopOf(db, workspace_id)]);
    if (workspace === undefined) throw new ApiError('not_found', 'No such workspace.');
    return { status: 200, body: await bodyOf(db, workspace, stop) };
  };
}

function handleUpdate({ db, lane }: WorkspaceRouteOptions): Handler<typeof routes.updateWorkspace> {
  return async (call) => {
    const { workspace_id } = call.caller;
    const workspace = await lane.submit(workspace_id, updateWorkspace, call.body, originOf(call));
    return { status: 200, body: await bodyOf(db, workspace, await stopOf(db, workspace_id)) };
  };
}

async function stopOrResume(
  { db, lane }: WorkspaceRouteOptions,
  call: Pick<Call, 'caller' | 'request_id' | 'client_address'>,
  input: StopWorkspaceInput,
) {
  const { workspace_id } = call.caller;
  const { workspace, stop } = await lane.submit(workspace_id, stopWorkspace, input, originOf(call));
  return { status: 200 as const, body: await bodyOf(db, workspace, stop) };
}

function handleListAuditRecords(options: WorkspaceRouteOptions): Handler<typeof routes.listAuditRecords> {
  const { db, cursors } = options;
  return async ({ caller: { workspace_id, scopes }, query, headers }) => {
    const { limit, cursor, ...filters } = query;
    const list = ['listAuditRecords', workspace_id, filters];
    const after = cursors.open(list, cursor) as number | null;
    const shown = scopes.includes('admin')
      ? (record: ListedAuditRecord) => record
      : withoutPersonal<ListedAuditRecord>;
    if (wantsCsv(headers)) {
      const is_page = limit !== undefined || cursor !== undefined;
      const chunks = csvOfList(
        COLUMNS,
        (record: ListedAuditRecord) => csvOf(shown(record)),
        (page) => listAuditRecords(db, workspace_id, filters, page),
        { after, limit: is_page ? (limit ?? 50) : null },
      );
      return {
        status: 200,
        stream: { chunks, content_type: CSV_TYPE },
        headers: attachment(`audit-${workspace_id}.csv`),
      };
    }
    const page = { after, limit: limit ?? 50 };
    const { rows, next } = await listAuditRecords(db, workspace_id, filters, page);
    const next_cursor = next === null ? null : cursors.seal(list, next);
    return { status: 200, body: { data: rows.map((record) => auditBody(shown(record))), next_cursor } };
  };
}

async function stopOf(db: pg.Pool, workspace_id: string): Promise<WorkspaceStop | null> {
  return decodeStop((await getHead(db, workspace_id))?.stop ?? null);
}

async function bodyOf(
  db: pg.Pool,
  workspace: Workspace,
  stopped: WorkspaceStop | null,
): Promise<Static<typeof WorkspaceBody>> {
  const [used, clock_ms] = await Promise.all([countAgents(db, workspace.workspace_id), readClock(db)]);
  const { trial_plan, trial_started_at, trial_ends_at } = workspace;
  return {
    id: workspace.workspace_id,
    name: workspace.name,
    mode: workspace.mode,
    plan: workspace.plan,
    trial:
      trial_plan === null || trial_started_at === null || trial_ends_at === null
        ? null
        : {
            plan: trial_plan,
            started_at: trial_started_at,
            ends_at: trial_ends_at,
            active: trialActive(workspace, clock_ms),
          },
    features: { enforce: mayEnforce(workspace), webhooks: mayUseWebhooks(workspace, clock_ms) },
    quotas: { agents: { used, limit: agentQuota(workspace, clock_ms) } },
    stopped,
    separation_of_duties: workspace.separation_of_duties,
    time_zone: workspace.time_zone,
    coverage: coverageSettings(workspace),
    sample: workspace.sample,
    created_at: workspace.created_at,
  };
}
