import { route } from '@purser/contract/route';
import { MODES } from '@purser/rules/domain/agents';
import { ACTOR_TYPES, auditBody, withoutPersonal } from '@purser/rules/domain/audit';
import { LEDGER_EVENT_TYPES } from '@purser/rules/domain/ledger';
import {
  agentQuota,
  decodeStop,
  mayEnforce,
  mayUseWebhooks,
  PLANS,
  SEPARATIONS_OF_DUTIES,
  trialActive,
  type Workspace,
  type WorkspaceStop,
} from '@purser/rules/domain/workspace';
import { ApiError } from '@purser/rules/errors';
import { csvLine } from '@purser/rules/values/csv';
import { TEXT_LENGTHS } from '@purser/rules/values/text';
import type pg from 'pg';
import Type, { type Static } from 'typebox';
import { type StopWorkspaceInput, stopWorkspace } from '../../engine/commands/stop-workspace.ts';
import { updateWorkspace } from '../../engine/commands/update-workspace.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { countAgents } from '../../engine/storage/agents.ts';
import { type ListedAuditRecord, listAuditRecords } from '../../engine/storage/audit.ts';
import { getHead } from '../../engine/storage/ledger.ts';
import { loadWorkspace, readClock } from '../../engine/storage/workspaces.ts';
import type { Cursors } from '../http/cursors.ts';
import { type Call, type Route, serve } from '../http/route.ts';
import {
  Fields,
  Formed,
  Id,
  Line,
  LongText,
  Nullable,
  OneOf,
  PageQuery,
  page,
  QueryBound,
  QuerySeveral,
  Timestamp,
} from '../http/schemas.ts';
import { originOf } from '../people/callers.ts';
import { attachment, CSV_TYPE, csvOfList, wantsCsv } from './csv-answers.ts';

const Quota = Fields({
  used: Type.Integer({ minimum: 0 }),
  limit: Nullable(Type.Integer({ minimum: 0, description: 'Null: none.' })),
});

const WorkspaceBody = Fields(
  {
    id: Id('workspace'),
    name: Type.String(),
    mode: OneOf(MODES, { description: 'The mode of new agents.' }),
    plan: OneOf(PLANS),
    trial: Nullable(
      Fields({ plan: OneOf(PLANS), started_at: Timestamp(), ends_at: Timestamp(), active: Type.Boolean() }),
    ),
    features: Fields({ enforce: Type.Boolean(), webhooks: Type.Boolean() }),
    quotas: Fields({ agents: Quota }),
    stopped: Nullable(
      Fields(
        {
          at: Timestamp(),
          by: Fields({ key_id: Nullable(Type.String()), principal_id: Nullable(Type.String()) }),
          reason: Type.String(),
        },
        { description: 'The stop of all agents; null if there is none.' },
      ),
    ),
    separation_of_duties: OneOf(SEPARATIONS_OF_DUTIES, {
      description:
        'Decides if the person who created the requesting key, directly or through other keys, may review. `MAKER`: no. `REQUESTER`: yes, unless they requested the spend themselves. `AUTO`: like `MAKER` while another member may review, otherwise like `REQUESTER`.',
    }),
    created_at: Timestamp(),
  },
  { $id: 'Workspace' },
);

const AuditItem = Fields(
  {
    id: Id('audit'),
    action: Type.String({ examples: ['agent.created'] }),
    actor: Fields({
      type: OneOf(ACTOR_TYPES),
      key_id: Nullable(Type.String()),
      session_id: Nullable(Type.String()),
      principal_id: Nullable(Type.String()),
    }),
    target: Fields({ type: Type.String(), id: Type.String() }),
    changes: Type.Object(
      {},
      {
        additionalProperties: { type: 'object' },
        description: 'Field → `{ from, to }`. Secrets never appear.',
      },
    ),
    request_id: Nullable(Type.String()),
    client_address: Nullable(Type.String()),
    created_at: Timestamp(),
  },
  { $id: 'AuditRecord' },
);

const TargetRef = Formed(
  '^[a-z]{2,3}_[A-Za-z0-9]{1,64}$',
  'must be an id, such as agt_01KAJ5F0V8Z3M2Q9X7T4R6N1BD',
);
const ActorRef = Formed(
  '^[!-~]{1,140}$',
  'must be the id of a key, a session or a user, or a principal, such as user:ada',
);
const ListQuery = Fields({
  action: Type.Optional(QuerySeveral(OneOf(LEDGER_EVENT_TYPES))),
  actor: Type.Optional(
    QuerySeveral(ActorRef, {
      description: 'Who did it: the id of a key, a session or a user, or a principal.',
    }),
  ),
  target: Type.Optional(QuerySeveral(TargetRef, { description: 'The id of the changed resource.' })),
  from: Type.Optional(QueryBound('from')),
  to: Type.Optional(QueryBound('to')),
  ...PageQuery,
});
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

const UpdateBody = Fields(
  {
    name: Type.Optional(Line({ max: TEXT_LENGTHS.name })),
    mode: Type.Optional(
      OneOf(MODES, { description: 'The mode of new agents. Existing agents keep theirs.' }),
    ),
    separation_of_duties: Type.Optional(OneOf(SEPARATIONS_OF_DUTIES)),
  },
  { examples: [{ name: 'Staging' }] },
);

const StopBody = Fields(
  {
    reason: LongText(
      { min: 1, max: TEXT_LENGTHS.description },
      { description: 'The reason, which refused requests receive.', examples: ['A key was leaked.'] },
    ),
  },
  { $id: 'StopRequest' },
);

const routes = {
  getWorkspace: route({
    method: 'GET',
    path: '/v1/workspace',
    operationId: 'getWorkspace',
    tag: 'Workspace',
    summary: 'Get the plan, the trial and the quotas used',
    description: 'Plans are changed by the operator.',
    scopes: ['read'],
    responses: { 200: { description: 'The workspace.', schema: WorkspaceBody } },
    errors: [],
  }),
  updateWorkspace: route({
    method: 'PATCH',
    path: '/v1/workspace',
    operationId: 'updateWorkspace',
    tag: 'Workspace',
    summary: "Change the workspace's name, the mode of new agents, or who may review",
    description: 'A request that changes nothing answers 200 and writes nothing. ENFORCE needs a paid plan.',
    scopes: ['admin'],
    weighs: 'by_request',
    body: UpdateBody,
    responses: { 200: { description: 'The updated workspace.', schema: WorkspaceBody } },
    errors: ['not_found', 'plan_required'],
  }),
  stopWorkspace: route({
    method: 'POST',
    path: '/v1/workspace/stop',
    operationId: 'stopWorkspace',
    tag: 'Workspace',
    summary: 'Stop all agents at once',
    description:
      'From now on every decision (including replays) and every consumption of a capability answers 403 `agent_not_active` with the reason. Reviews, outcomes, labels and reads continue. Unexpired capabilities can be consumed again after the stop ends. If the agents are already stopped, it answers 200 and writes nothing.',
    scopes: ['admin', 'review'],
    weighs: false,
    body: StopBody,
    responses: { 200: { description: 'The updated workspace.', schema: WorkspaceBody } },
    errors: ['not_found'],
  }),
  resumeWorkspace: route({
    method: 'POST',
    path: '/v1/workspace/resume',
    operationId: 'resumeWorkspace',
    tag: 'Workspace',
    summary: 'Let all agents spend again',
    description: 'Ends a stop. If there is none, it answers 200 and writes nothing.',
    scopes: ['admin'],
    responses: { 200: { description: 'The updated workspace.', schema: WorkspaceBody } },
    errors: ['not_found'],
  }),
  listAuditRecords: route({
    method: 'GET',
    path: '/v1/audit',
    operationId: 'listAuditRecords',
    tag: 'Workspace',
    summary: 'List administrative changes',
    description:
      'Changes of agents, authority versions, keys and plans, newest first. Filters combine with AND. A page ends at `limit` or at about 1 MB, whichever comes first; only a null `next_cursor` marks the last page. Callers without `admin` see neither e-mails, which are omitted from `changes`, nor client addresses and session ids, which are null. With `accept: text/csv` the response is one table of all matching records, or one page of them if `limit` or `cursor` is given.',
    scopes: ['read'],
    query: ListQuery,
    responses: {
      200: {
        description: 'A page of audit records.',
        schema: page(AuditItem, { $id: 'AuditPage' }),
        or_as: ['text/csv'],
      },
    },
    errors: [],
  }),
};

/** The workspace and what was done in it. */
export function makeWorkspaceRoutes(options: { db: pg.Pool; lane: Lane; cursors: Cursors }): Route[] {
  const { db, lane, cursors } = options;

  async function stopOf(workspace_id: string): Promise<WorkspaceStop | null> {
    return decodeStop((await getHead(db, workspace_id))?.stop ?? null);
  }

  async function stopOrResume(
    call: Pick<Call, 'caller' | 'request_id' | 'client_address'>,
    input: StopWorkspaceInput,
  ) {
    const { workspace_id } = call.caller;
    const { workspace, stop } = await lane.submit(workspace_id, stopWorkspace, input, originOf(call));
    return { status: 200 as const, body: await bodyOf(workspace, stop) };
  }

  async function bodyOf(
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
      created_at: workspace.created_at,
    };
  }

  return [
    serve(routes.getWorkspace, { shares: 'reads' })(async (call) => {
      const { workspace_id } = call.caller;
      const [workspace, stop] = await Promise.all([loadWorkspace(db, workspace_id), stopOf(workspace_id)]);
      if (workspace === undefined) throw new ApiError('not_found', 'No such workspace.');
      return { status: 200, body: await bodyOf(workspace, stop) };
    }),
    serve(routes.updateWorkspace, {
      isWeighty: ({ body: { name, ...changes } }) => Object.keys(changes).length > 0,
    })(async (call) => {
      const { workspace_id } = call.caller;
      const workspace = await lane.submit(workspace_id, updateWorkspace, call.body, originOf(call));
      return { status: 200, body: await bodyOf(workspace, await stopOf(workspace_id)) };
    }),
    serve(routes.stopWorkspace)(async (call) => stopOrResume(call, call.body)),
    serve(routes.resumeWorkspace)(async (call) => stopOrResume(call, { reason: null })),
    serve(routes.listAuditRecords, {
      // A file holds its turn until its reader has it.
      shares: (headers) => (wantsCsv(headers) ? 'exports' : 'reads'),
    })(async (call) => {
      const { limit, cursor, ...filters } = call.query;
      const { workspace_id } = call.caller;
      const list = ['listAuditRecords', workspace_id, filters];
      const after = cursors.open(list, cursor) as number | null;
      const shown = call.caller.scopes.includes('admin')
        ? (record: ListedAuditRecord) => record
        : withoutPersonal<ListedAuditRecord>;
      if (wantsCsv(call.headers)) {
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
      const { rows, next } = await listAuditRecords(db, workspace_id, filters, {
        after,
        limit: limit ?? 50,
      });
      const next_cursor = next === null ? null : cursors.seal(list, next);
      return { status: 200, body: { data: rows.map((record) => auditBody(shown(record))), next_cursor } };
    }),
  ];
}
