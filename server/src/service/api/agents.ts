import { route } from '@purser/contract/route';
import { AGENT_STATUSES, agentBody, MODES } from '@purser/rules/domain/agents';
import { TEXT_LENGTHS } from '@purser/rules/values/text';
import type pg from 'pg';
import Type from 'typebox';
import { createAgent } from '../../engine/commands/create-agent.ts';
import { updateAgent } from '../../engine/commands/update-agent.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { listAgents } from '../../engine/storage/agents.ts';
import { loadWorkspace } from '../../engine/storage/workspaces.ts';
import { loadAgentLimits } from '../decisions/agent-limits.ts';
import { type AgentStanding, loadAgentStandings } from '../decisions/agent-standings.ts';
import { visibleAgent } from '../decisions/visible-agent.ts';
import { type Cursors, pageOf } from '../http/cursors.ts';
import { type Route, serve } from '../http/route.ts';
import {
  Currency,
  Fields,
  Id,
  LimitMinor,
  Line,
  Nullable,
  OneOf,
  PageQuery,
  page,
  QuerySeveral,
  Slug,
  Timestamp,
} from '../http/schemas.ts';
import { originOf } from '../people/callers.ts';
import { AuthorityBody } from './schemas/authorities.ts';
import { AgentLimitsBody } from './schemas/limits.ts';

const AgentBody = Fields(
  {
    id: Id('agent'),
    slug: Type.String({ examples: ['infra-bot'] }),
    name: Type.String(),
    mode: OneOf(MODES),
    status: OneOf(AGENT_STATUSES),
    authority_version: Nullable(Type.Integer({ minimum: 1 })),
    authority_hash: Nullable(Type.String()),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { $id: 'Agent' },
);

const AgentWithBudgets = Fields(
  {
    ...AgentBody.properties,
    budgets: Type.Array(
      Fields({
        currency: Currency(),
        limit_minor: Nullable(
          LimitMinor({ description: 'The monthly budget; null if none is set in this currency.' }),
        ),
        held_minor: LimitMinor(),
        committed_minor: LimitMinor(),
        remaining_minor: Nullable(
          LimitMinor({ description: 'The remaining amount; null if no budget is set.' }),
        ),
      }),
      {
        description:
          "This month's budgets (UTC): one in the authority's currency, and one for every other currency spent.",
      },
    ),
    last_decision_at: Nullable(
      Timestamp({ description: 'Time of its last request; null if it has made none.' }),
    ),
  },
  { $id: 'AgentWithBudgets' },
);

const CreateAgentBody = Fields({
  slug: Slug({ examples: ['infra-bot'] }),
  name: Type.Optional(Line({ max: TEXT_LENGTHS.name }, { description: 'Defaults to the slug.' })),
  mode: Type.Optional(OneOf(MODES, { description: "Defaults to the workspace's mode." })),
  authority: Type.Optional(AuthorityBody),
});

const UpdateAgentBody = Fields(
  {
    name: Type.Optional(Line({ max: TEXT_LENGTHS.name })),
    status: Type.Optional(OneOf(AGENT_STATUSES, { description: '`revoked` is permanent.' })),
    mode: Type.Optional(OneOf(MODES)),
  },
  { examples: [{ status: 'paused' }] },
);

const IdParams = Fields({ id: Type.String({ description: "The agent's id or slug." }) });
const ListQuery = Fields({
  status: Type.Optional(QuerySeveral(OneOf(AGENT_STATUSES))),
  mode: Type.Optional(QuerySeveral(OneOf(MODES))),
  q: Type.Optional(
    Line({ max: TEXT_LENGTHS.name }, { description: 'Part of the slug or name, case-insensitive.' }),
  ),
  ...PageQuery,
});

const routes = {
  createAgent: route({
    method: 'POST',
    path: '/v1/agents',
    operationId: 'createAgent',
    tag: 'Agents',
    summary: 'Create an agent',
    description:
      "Counts toward the plan's agent quota permanently. ENFORCE needs a paid plan. To set ENFORCE or an authority, an administrator needs a fresh proof of identity.",
    scopes: ['admin'],
    weighs: 'by_request',
    body: CreateAgentBody,
    responses: { 201: { description: 'The agent.', schema: AgentBody } },
    errors: ['agent_exists', 'agent_limit', 'plan_required'],
  }),
  listAgents: route({
    method: 'GET',
    path: '/v1/agents',
    operationId: 'listAgents',
    tag: 'Agents',
    summary: 'List agents',
    description: 'Newest first, each with its remaining budgets for this month. Filters combine with AND.',
    scopes: ['read'],
    query: ListQuery,
    responses: {
      200: { description: 'A page of agents.', schema: page(AgentWithBudgets, { $id: 'AgentPage' }) },
    },
    errors: [],
  }),
  getAgent: route({
    method: 'GET',
    path: '/v1/agents/:id',
    operationId: 'getAgent',
    tag: 'Agents',
    summary: 'Get one agent',
    description: 'By id or slug, with its remaining budgets for this month.',
    scopes: ['read'],
    agentKey: 'own',
    params: IdParams,
    responses: { 200: { description: 'The agent.', schema: AgentWithBudgets } },
    errors: ['not_found'],
  }),
  listAgentLimits: route({
    method: 'GET',
    path: '/v1/agents/:id/limits',
    operationId: 'listAgentLimits',
    tag: 'Agents',
    summary: "List the usage of an agent's limits over time",
    description:
      'The used and remaining amounts of the monthly budget, if one is set, and of each limit over time in its authority. For per-merchant and per-payee limits: the 20 most used.',
    scopes: ['read'],
    agentKey: 'own',
    params: IdParams,
    responses: { 200: { description: 'All of them; there is one page.', schema: AgentLimitsBody } },
    errors: ['not_found'],
  }),
  updateAgent: route({
    method: 'PATCH',
    path: '/v1/agents/:id',
    operationId: 'updateAgent',
    tag: 'Agents',
    summary: "Change an agent's name, status or mode",
    description:
      'Takes effect on the next request, on every node. Revoking is permanent. Changing the mode or reactivating the agent needs an administrator’s fresh proof of identity. A request that changes nothing answers 200 and writes nothing.',
    scopes: ['admin'],
    weighs: 'by_request',
    params: IdParams,
    body: UpdateAgentBody,
    responses: { 200: { description: 'The updated agent.', schema: AgentBody } },
    errors: ['not_found', 'plan_required'],
  }),
};

/** The agents of a workspace. */
export function makeAgentRoutes(options: { db: pg.Pool; lane: Lane; cursors: Cursors }): Route[] {
  const { db, lane, cursors } = options;

  return [
    serve(routes.createAgent, {
      isWeighty: async (call) => {
        const { authority, mode = (await loadWorkspace(db, call.caller.workspace_id))?.mode } = call.body;
        return authority !== undefined || mode !== 'SHADOW';
      },
    })(async (call) => {
      const agent = await lane.submit(call.caller.workspace_id, createAgent, call.body, originOf(call));
      return { status: 201, body: agentBody(agent) };
    }),
    serve(routes.listAgents, { shares: 'reads' })(async (call) => {
      const { limit = 50, cursor, ...filters } = call.query;
      const { workspace_id } = call.caller;
      const list = ['listAgents', workspace_id, filters];
      const after = cursors.open(list, cursor) as string | null;
      const found = await listAgents(db, workspace_id, { after, limit: limit + 1 }, filters);
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.agent_id));
      const standings = await loadAgentStandings(db, workspace_id, rows);
      return {
        status: 200,
        body: {
          data: rows.map((agent, i) => ({ ...agentBody(agent), ...(standings[i] as AgentStanding) })),
          next_cursor,
        },
      };
    }),
    serve(routes.getAgent, { shares: 'reads' })(async (call) => {
      const agent = await visibleAgent(db, call.caller, call.params.id);
      const [standing] = await loadAgentStandings(db, call.caller.workspace_id, [agent]);
      return { status: 200, body: { ...agentBody(agent), ...(standing as AgentStanding) } };
    }),
    serve(routes.listAgentLimits, { shares: 'reads' })(async (call) => {
      const agent = await visibleAgent(db, call.caller, call.params.id);
      const data = await loadAgentLimits(db, call.caller.workspace_id, agent);
      return { status: 200, body: { data, next_cursor: null } };
    }),
    serve(routes.updateAgent, {
      isWeighty: ({ body }) => body.mode !== undefined || body.status === 'active',
    })(async (call) => {
      const input = { agent: call.params.id, changes: call.body };
      const agent = await lane.submit(call.caller.workspace_id, updateAgent, input, originOf(call));
      return { status: 200, body: agentBody(agent) };
    }),
  ];
}
