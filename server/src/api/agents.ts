import type pg from 'pg';
import Type, { type Static } from 'typebox';
import { createAgent } from '../commands/create-agent.ts';
import { createAuthority } from '../commands/create-authority.ts';
import { updateAgent } from '../commands/update-agent.ts';
import { AGENT_STATUSES, type Agent, agentBody, MODES } from '../domain/agents.ts';
import { type Authority, type AuthorityRow, ON_PURPOSE_UNCLEAR } from '../domain/authorities.ts';
import { budgetStatus, periodOf } from '../domain/budget.ts';
import { ApiError } from '../errors.ts';
import { type Cursors, pageOf } from '../http/cursors.ts';
import type { Call, Route } from '../http/route.ts';
import {
  Currency,
  Fields,
  Id,
  LimitMinor,
  Line,
  LongText,
  Nullable,
  OneOf,
  PageQuery,
  page,
  QueryInteger,
  Slug,
  Timestamp,
} from '../http/schemas.ts';
import type { Lane } from '../lane/lane.ts';
import { originOf, requireFreshProof } from '../people/callers.ts';
import { getAgent, listAgents } from '../storage/agents.ts';
import { getAuthority, parseAuthority } from '../storage/authorities.ts';
import { listBudgetCurrencies, listBudgets } from '../storage/budgets.ts';
import { readClock } from '../storage/workspaces.ts';
import { TEXT_LENGTHS } from '../values/text.ts';

const MAX_PURPOSE_ITEMS = 50;
const MAX_MERCHANTS = 1_000;

const PurposeLines = (description: string, example: string) =>
  Type.Optional(
    Type.Array(LongText({ min: 1, max: TEXT_LENGTHS.description }), {
      maxItems: MAX_PURPOSE_ITEMS,
      description,
      examples: [[example]],
    }),
  );

export const AuthorityBody = Fields(
  {
    purpose: Fields(
      {
        objective: LongText(
          { min: 1, max: TEXT_LENGTHS.description },
          {
            description: 'What the agent was put there for.',
            examples: ['Keep the staging platform running: servers, storage, monitoring.'],
          },
        ),
        success_criteria: PurposeLines(
          'How one can tell that it does well.',
          'Backups of every server are kept for 30 days.',
        ),
        constraints: PurposeLines('What it must not do.', 'No purchases of hardware.'),
        context: Type.Optional(
          LongText(
            { max: TEXT_LENGTHS.task },
            {
              description: 'What else helps to understand the purpose.',
              examples: ['Regular suppliers: Hetzner Online, Backblaze.'],
            },
          ),
        ),
      },
      { $id: 'Purpose' },
    ),
    currency: Currency({
      description: 'ISO 4217 code of all amounts here; a spend in any other currency is denied.',
      examples: ['EUR'],
    }),
    per_transaction_limit_minor: Type.Optional(
      LimitMinor({
        description:
          'The most that one spend may be; more is denied, or capped where the request is `limitable`.',
        examples: [20000],
      }),
    ),
    review_threshold_minor: Type.Optional(
      LimitMinor({ description: 'Amounts strictly over it go to a person.', examples: [8000] }),
    ),
    monthly_budget_minor: Type.Optional(
      LimitMinor({
        description: 'The most that the spends of a calendar month (UTC) may come to, holds included.',
        examples: [150000],
      }),
    ),
    blocked_merchants: Type.Optional(
      Type.Array(Line({ max: TEXT_LENGTHS.merchant }), {
        maxItems: MAX_MERCHANTS,
        description: 'Names, or host names (which block their subdomains too).',
        examples: [['evil.example']],
      }),
    ),
    allowed_merchants: Type.Optional(
      Type.Array(Line({ max: TEXT_LENGTHS.merchant }), {
        maxItems: MAX_MERCHANTS,
        description:
          'Whole names, or host names (with their subdomains). Paying one of them is evidence that a spend serves the purpose; it outweighs no limit, no constraint and no conflict.',
        examples: [['Hetzner Online', 'hetzner.com']],
      }),
    ),
    on_purpose_unclear: Type.Optional(
      OneOf(ON_PURPOSE_UNCLEAR, {
        description:
          'What a spend becomes when nobody can tell whether it serves the purpose; `REVIEW` when left out.',
      }),
    ),
  },
  { $id: 'Authority', description: 'A limit that is left out does not limit.' },
);

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
          LimitMinor({ description: 'The monthly budget; null: none in this currency.' }),
        ),
        held_minor: LimitMinor(),
        committed_minor: LimitMinor(),
        remaining_minor: Nullable(LimitMinor({ description: 'What is left; null: no budget is set.' })),
      }),
      {
        description: "This month's (UTC): of the authority's currency, and of all others that were spent in.",
      },
    ),
  },
  { $id: 'AgentWithBudgets' },
);

const AuthorityVersion = Fields(
  {
    agent_id: Id('agent'),
    version: Type.Integer({ minimum: 1 }),
    hash: Type.String({ description: '`sha256:` + hex SHA-256 of the RFC 8785 form of the authority.' }),
    authority: AuthorityBody,
    created_at: Timestamp(),
    created_by: Fields({ key_id: Nullable(Type.String()), principal_id: Nullable(Type.String()) }),
  },
  { $id: 'AuthorityVersion' },
);

const CreateAgentBody = Fields({
  slug: Slug({ examples: ['infra-bot'] }),
  name: Type.Optional(Line({ max: TEXT_LENGTHS.name }, { description: 'The slug when left out.' })),
  mode: Type.Optional(OneOf(MODES, { description: "The workspace's mode when left out." })),
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
const ListQuery = Fields(PageQuery);
const VersionQuery = Fields({
  version: Type.Optional(
    QueryInteger({ min: 1, max: 2_147_483_647 }, { description: 'The newest when left out.' }),
  ),
});

function authorityBody(row: AuthorityRow): Static<typeof AuthorityVersion> {
  const { agent_id, version, hash, created_at, key_id, principal_id } = row;
  const authority = parseAuthority(row);
  return { agent_id, version, hash, authority, created_at, created_by: { key_id, principal_id } } as never;
}

const NOTHING_COUNTED = { held_minor: 0, committed_minor: 0 };

/** Agents and what each of them is allowed. */
export function makeAgentRoutes(options: { db: pg.Pool; lane: Lane; cursors: Cursors }): Route[] {
  const { db, lane, cursors } = options;

  /** The agent that the path names, if this caller may see it. */
  async function agentOf(call: Pick<Call, 'caller'> & { params: { id: string } }): Promise<Agent> {
    const agent = await getAgent(db, call.caller.workspace_id, call.params.id);
    const own = call.caller.kind !== 'agent' || agent?.agent_id === call.caller.agent_id;
    if (agent === undefined || !own) throw new ApiError('not_found', 'There is no such agent.');
    return agent;
  }

  /** What an agent has spent, holds and has left this month, by currency. */
  async function budgetsOf(workspace_id: string, agent_id: string) {
    const period = periodOf(await readClock(db));
    const [row, spent_in] = await Promise.all([
      getAuthority(db, workspace_id, agent_id, null),
      listBudgetCurrencies(db, workspace_id, agent_id, period),
    ]);
    const authority = row === undefined ? null : parseAuthority(row);
    const currencies = [...new Set([...(authority === null ? [] : [authority.currency]), ...spent_in])];
    const wanted = currencies.map((currency) => ({ agent_id, period, currency }));
    const counters = await listBudgets(db, workspace_id, wanted);
    return currencies.map((currency) => {
      const counter = counters.find((each) => each.currency === currency) ?? NOTHING_COUNTED;
      const limit = authority?.currency === currency ? (authority.monthly_budget_minor ?? null) : null;
      return { currency, ...budgetStatus(counter, limit) };
    });
  }

  return [
    {
      method: 'POST',
      path: '/v1/agents',
      operationId: 'createAgent',
      tag: 'Agents',
      summary: 'Create an agent',
      description: "Counts toward the plan's agent quota, for ever. ENFORCE needs a paid plan.",
      scopes: ['admin'],
      body: CreateAgentBody,
      responses: { 201: { description: 'The agent.', schema: AgentBody } },
      errors: ['agent_exists', 'agent_limit', 'plan_required'],
      handler: async (call: Call<unknown, unknown, Static<typeof CreateAgentBody>>) => {
        const agent = await lane.submit(call.caller.workspace_id, createAgent, call.body, originOf(call));
        return { status: 201, body: agentBody(agent) };
      },
    },
    {
      method: 'GET',
      path: '/v1/agents',
      operationId: 'listAgents',
      tag: 'Agents',
      summary: 'List agents',
      description: 'Newest first.',
      scopes: ['read'],
      shares: 'reads',
      query: ListQuery,
      responses: { 200: { description: 'A page of agents.', schema: page(AgentBody, { $id: 'AgentPage' }) } },
      errors: [],
      handler: async (call: Call<unknown, Static<typeof ListQuery>, unknown>) => {
        const { limit = 50, cursor } = call.query;
        const { workspace_id } = call.caller;
        const list = ['listAgents', workspace_id];
        const after = cursors.open(list, cursor) as string | null;
        const found = await listAgents(db, workspace_id, { after, limit: limit + 1 });
        const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.agent_id));
        return { status: 200, body: { data: rows.map(agentBody), next_cursor } };
      },
    },
    {
      method: 'GET',
      path: '/v1/agents/:id',
      operationId: 'getAgent',
      tag: 'Agents',
      summary: 'Get one agent',
      description: 'By id or slug, with what is left of its budgets this month.',
      scopes: ['read'],
      shares: 'reads',
      agentKey: 'own',
      params: IdParams,
      responses: { 200: { description: 'The agent.', schema: AgentWithBudgets } },
      errors: ['not_found'],
      handler: async (call: Call<{ id: string }, unknown, unknown>) => {
        const agent = await agentOf(call);
        const budgets = await budgetsOf(call.caller.workspace_id, agent.agent_id);
        return { status: 200, body: { ...agentBody(agent), budgets } };
      },
    },
    {
      method: 'PATCH',
      path: '/v1/agents/:id',
      operationId: 'updateAgent',
      tag: 'Agents',
      summary: "Change an agent's name, status or mode",
      description:
        'Takes effect on the very next request, on every node. Revoking is permanent. Nothing to change answers 200 and writes nothing.',
      scopes: ['admin'],
      params: IdParams,
      body: UpdateAgentBody,
      responses: { 200: { description: 'The agent as it is now.', schema: AgentBody } },
      errors: ['not_found', 'plan_required', 'reauthentication_required'],
      handler: async (call: Call<{ id: string }, unknown, Static<typeof UpdateAgentBody>>) => {
        if (call.body.mode === 'ENFORCE') requireFreshProof(call);
        const input = { agent: call.params.id, changes: call.body };
        const agent = await lane.submit(call.caller.workspace_id, updateAgent, input, originOf(call));
        return { status: 200, body: agentBody(agent) };
      },
    },
    {
      method: 'POST',
      path: '/v1/agents/:id/authority',
      operationId: 'createAuthority',
      tag: 'Agents',
      summary: 'Set what an agent is allowed',
      description: 'The whole authority: it becomes the next version, and earlier versions stay on record.',
      scopes: ['admin'],
      params: IdParams,
      body: AuthorityBody,
      responses: { 201: { description: 'The new version.', schema: AuthorityVersion } },
      errors: ['not_found'],
      handler: async (call: Call<{ id: string }, unknown, Authority>) => {
        const input = { agent: call.params.id, authority: call.body };
        const row = await lane.submit(call.caller.workspace_id, createAuthority, input, originOf(call));
        return { status: 201, body: authorityBody(row) };
      },
    },
    {
      method: 'GET',
      path: '/v1/agents/:id/authority',
      operationId: 'getAuthority',
      tag: 'Agents',
      summary: 'Get what an agent is allowed',
      description: 'The newest version, or the one that `version` names.',
      scopes: ['read'],
      shares: 'reads',
      agentKey: 'own',
      params: IdParams,
      query: VersionQuery,
      responses: { 200: { description: 'The authority.', schema: AuthorityVersion } },
      errors: ['not_found'],
      handler: async (call: Call<{ id: string }, Static<typeof VersionQuery>, unknown>) => {
        const agent = await agentOf(call);
        const row = await getAuthority(
          db,
          call.caller.workspace_id,
          agent.agent_id,
          call.query.version ?? null,
        );
        if (row === undefined) throw new ApiError('not_found', 'There is no such authority.');
        return { status: 200, body: authorityBody(row) };
      },
    },
  ];
}
