import { Type } from 'typebox';
import { AuthorityBody } from '../authority.ts';
import { AgentLimitsBody } from '../limit-standing.ts';
import { TEXT_LENGTHS } from '../limits.ts';
import { route } from '../route.ts';
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
  SortQuery,
  Timestamp,
} from '../schema.ts';
import { AGENT_STATUSES, MODES } from '../values/agents.ts';

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
  ...SortQuery(['created_at', 'slug']),
  ...PageQuery,
});

export const routes = {
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
    description:
      'Newest first unless `sort` and `order` say otherwise, each with its remaining budgets for this month. Filters combine with AND.',
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
