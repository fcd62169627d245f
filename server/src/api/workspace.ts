import type pg from 'pg';
import Type, { type Static } from 'typebox';
import { updateWorkspace } from '../commands/update-workspace.ts';
import { MODES } from '../domain/agents.ts';
import { ACTOR_TYPES, auditBody } from '../domain/audit.ts';
import {
  agentQuota,
  mayEnforce,
  mayUseWebhooks,
  PLANS,
  trialActive,
  type Workspace,
} from '../domain/workspace.ts';
import { ApiError } from '../errors.ts';
import { type Cursors, pageOf } from '../http/cursors.ts';
import type { Call, Route } from '../http/route.ts';
import { Fields, Id, Line, Nullable, OneOf, PageQuery, page, Timestamp } from '../http/schemas.ts';
import type { Lane } from '../lane/lane.ts';
import { originOf, requireFreshProof } from '../people/callers.ts';
import { countAgents } from '../storage/agents.ts';
import { listAuditRecords } from '../storage/audit.ts';
import { loadWorkspace, readClock } from '../storage/workspaces.ts';
import { TEXT_LENGTHS } from '../values/text.ts';

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

const ListQuery = Fields(PageQuery);

const UpdateBody = Fields(
  {
    name: Type.Optional(Line({ max: TEXT_LENGTHS.name })),
    mode: Type.Optional(
      OneOf(MODES, { description: 'The mode of new agents. Those that there are keep theirs.' }),
    ),
  },
  { examples: [{ name: 'Staging' }] },
);

/** The workspace and what was done in it. */
export function makeWorkspaceRoutes(options: { db: pg.Pool; lane: Lane; cursors: Cursors }): Route[] {
  const { db, lane, cursors } = options;

  async function bodyOf(workspace: Workspace): Promise<Record<string, unknown>> {
    const [used, clock_ms] = await Promise.all([countAgents(db, workspace.workspace_id), readClock(db)]);
    const { trial_plan, trial_started_at, trial_ends_at } = workspace;
    return {
      id: workspace.workspace_id,
      name: workspace.name,
      mode: workspace.mode,
      plan: workspace.plan,
      trial:
        trial_plan === null
          ? null
          : {
              plan: trial_plan,
              started_at: trial_started_at,
              ends_at: trial_ends_at,
              active: trialActive(workspace, clock_ms),
            },
      features: { enforce: mayEnforce(workspace), webhooks: mayUseWebhooks(workspace, clock_ms) },
      quotas: { agents: { used, limit: agentQuota(workspace, clock_ms) } },
      created_at: workspace.created_at,
    };
  }

  return [
    {
      method: 'GET',
      path: '/v1/workspace',
      operationId: 'getWorkspace',
      tag: 'Workspace',
      summary: 'Get the plan, the trial and the quotas used',
      description: 'Plans are changed by the operator.',
      scopes: ['read'],
      shares: 'reads',
      responses: { 200: { description: 'The workspace.', schema: WorkspaceBody } },
      errors: [],
      handler: async (call: Call) => {
        const workspace = await loadWorkspace(db, call.caller.workspace_id);
        if (workspace === undefined) throw new ApiError('not_found', 'There is no such workspace.');
        return { status: 200, body: await bodyOf(workspace) };
      },
    },
    {
      method: 'PATCH',
      path: '/v1/workspace',
      operationId: 'updateWorkspace',
      tag: 'Workspace',
      summary: 'Change its name, or the mode of new agents',
      description: 'Nothing to change answers 200 and writes nothing. ENFORCE needs a paid plan.',
      scopes: ['admin'],
      body: UpdateBody,
      responses: { 200: { description: 'The workspace as it is now.', schema: WorkspaceBody } },
      errors: ['not_found', 'plan_required', 'reauthentication_required'],
      handler: async (call: Call<unknown, unknown, Static<typeof UpdateBody>>) => {
        if (call.body.mode === 'ENFORCE') requireFreshProof(call);
        const { workspace_id } = call.caller;
        const workspace = await lane.submit(workspace_id, updateWorkspace, call.body, originOf(call));
        return { status: 200, body: await bodyOf(workspace) };
      },
    },
    {
      method: 'GET',
      path: '/v1/audit',
      operationId: 'listAuditRecords',
      tag: 'Workspace',
      summary: 'List administrative changes',
      description:
        'Agents, authority versions, keys and plan changes, newest first. A page ends at `limit` or at about 1 MB, whichever comes first.',
      scopes: ['read'],
      shares: 'reads',
      query: ListQuery,
      responses: {
        200: { description: 'A page of audit records.', schema: page(AuditItem, { $id: 'AuditPage' }) },
      },
      errors: [],
      handler: async (call: Call<unknown, Static<typeof ListQuery>, unknown>) => {
        const { limit = 50, cursor } = call.query;
        const { workspace_id } = call.caller;
        const list = ['listAuditRecords', workspace_id];
        const after = cursors.open(list, cursor) as number | null;
        const found = await listAuditRecords(db, workspace_id, { after, limit });
        const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.seq));
        return { status: 200, body: { data: rows.map(auditBody), next_cursor } };
      },
    },
  ];
}
