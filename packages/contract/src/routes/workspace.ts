import { Type } from 'typebox';
import { CoverageSettingsBody, CoverageSettingsChange } from '../history/coverage.ts';
import { TEXT_LENGTHS } from '../limits.ts';
import { route } from '../route.ts';
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
  TimeZone,
} from '../schema.ts';
import { MODES } from '../values/agents.ts';
import { ACTOR_TYPES, LEDGER_EVENT_TYPES } from '../values/ledger.ts';
import { PLANS, SEPARATIONS_OF_DUTIES } from '../values/workspace.ts';

const Quota = Fields({
  used: Type.Integer({ minimum: 0 }),
  limit: Nullable(Type.Integer({ minimum: 0, description: 'Null: none.' })),
});

export const WorkspaceBody = Fields(
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
    time_zone: TimeZone({
      description:
        'The time zone in which the console shows days. Monthly budgets and the days of reports stay UTC.',
    }),
    coverage: CoverageSettingsBody,
    sample: Type.Boolean({
      description: 'True for a workspace of invented data: see `POST /v1/workspace/sample`.',
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
  '^[a-z]{2,4}_[A-Za-z0-9]{1,64}$',
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

const UpdateBody = Fields(
  {
    name: Type.Optional(Line({ max: TEXT_LENGTHS.name })),
    mode: Type.Optional(
      OneOf(MODES, { description: 'The mode of new agents. Existing agents keep theirs.' }),
    ),
    separation_of_duties: Type.Optional(OneOf(SEPARATIONS_OF_DUTIES)),
    time_zone: Type.Optional(
      TimeZone({ description: 'The time zone in which the console shows days; `UTC` at first.' }),
    ),
    coverage: Type.Optional(CoverageSettingsChange),
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

export const routes = {
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
    summary: "Change the workspace's name, the mode of new agents, who may review, or the time zone",
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
