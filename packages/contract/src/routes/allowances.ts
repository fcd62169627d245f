import { Type } from 'typebox';
import {
  AllowanceBody,
  CreateAllowanceBody,
  DecideAllowanceBody,
  NewAllowanceBody,
  RequestAllowanceBody,
  RevokeAllowanceBody,
  UpdateAllowanceBody,
} from '../allowances/fields.ts';
import { PresentAllowanceBody } from '../allowances/issuers.ts';
import { route } from '../route.ts';
import {
  AgentRef,
  AllowanceRef,
  Fields,
  Formed,
  Line,
  OneOf,
  PageQuery,
  page,
  QueryBoolean,
  QuerySeveral,
  WaitSeconds,
} from '../schema.ts';
import { ALLOWANCE_STATUSES, MAX_ALLOWANCE_DEPTH, MAX_ALLOWANCES_AT_ONCE } from '../values/allowances.ts';

const IdParams = Fields({ id: AllowanceRef() });

const ListQuery = Fields({
  agent: Type.Optional(AgentRef({ description: 'Allowances of this agent, by slug or id.' })),
  budget: Type.Optional(
    Type.String({ description: 'Allowances that count toward this shared budget, by slug or id.' }),
  ),
  parent: Type.Optional(AllowanceRef({ description: 'The direct parts of this allowance.' })),
  status: Type.Optional(QuerySeveral(OneOf(ALLOWANCE_STATUSES))),
  automatic: Type.Optional(QueryBoolean()),
  label: Type.Optional(
    Formed(
      '^[a-z0-9][a-z0-9_.-]{0,62}:[^\\u0000]{1,128}$',
      'must be a key and a value, such as customer:c42',
      {
        examples: ['customer:c42'],
      },
    ),
  ),
  external_id: Type.Optional(Line({ max: 128 })),
  issuer: Type.Optional(Type.String({ description: 'Allowances that this issuer signed.' })),
  ...PageQuery,
});

const allowance = { description: 'The allowance.', schema: AllowanceBody };

export const routes = {
  createAllowance: route({
    method: 'POST',
    path: '/v1/allowances',
    operationId: 'createAllowance',
    tag: 'Allowances',
    summary: 'Create an allowance',
    description: `Caps what may be spent for one task, sub-agent, user or customer. Nothing is set aside: a spend that names it counts toward it, all allowances above it, its budgets and the agent's own limits, and each of them can cap or deny it. Allowances nest at most ${MAX_ALLOWANCE_DEPTH} deep. An agent key can make parts of open allowances that it may use; they only narrow. The same \`external_id\` with the same body from the same creator answers 200 with the allowance that exists, and \`idempotent-replay: true\`. \`key\` also makes an agent key that spends under the allowance alone; its value is in this response and nowhere else.`,
    scopes: ['admin'],
    agentKey: 'own',
    body: CreateAllowanceBody,
    responses: {
      201: { description: 'The allowance.', schema: NewAllowanceBody },
      200: {
        description: 'The allowance that this `external_id` made before.',
        schema: AllowanceBody,
        headers: { 'idempotent-replay': '`true`' },
      },
    },
    errors: ['not_found', 'allowance_exists', 'allowance_limit', 'allowance_not_open'],
  }),
  createAllowances: route({
    method: 'POST',
    path: '/v1/allowances/batch',
    operationId: 'createAllowances',
    tag: 'Allowances',
    summary: 'Create several allowances',
    description: `Up to ${MAX_ALLOWANCES_AT_ONCE}, all or none. Errors name the allowance, such as \`allowances[3].amount_minor\`. An \`external_id\` that already made the same allowance returns that one.`,
    scopes: ['admin'],
    body: Fields(
      { allowances: Type.Array(CreateAllowanceBody, { minItems: 1, maxItems: MAX_ALLOWANCES_AT_ONCE }) },
      { $id: 'CreateAllowancesRequest' },
    ),
    responses: {
      201: {
        description: 'The allowances, in the order of the request.',
        schema: Fields({ data: Type.Array(NewAllowanceBody) }, { $id: 'CreatedAllowances' }),
      },
    },
    errors: ['not_found', 'allowance_exists', 'allowance_limit', 'allowance_not_open'],
  }),
  listAllowances: route({
    method: 'GET',
    path: '/v1/allowances',
    operationId: 'listAllowances',
    tag: 'Allowances',
    summary: 'List allowances',
    description:
      'Newest first, each with its usage. Filters combine with AND. An agent key sees those that it may use; a key that is bound to an allowance sees that one and those below it.',
    scopes: ['read'],
    agentKey: 'own',
    query: ListQuery,
    responses: {
      200: { description: 'A page of allowances.', schema: page(AllowanceBody, { $id: 'AllowancePage' }) },
    },
    errors: [],
  }),
  getAllowance: route({
    method: 'GET',
    path: '/v1/allowances/:id',
    operationId: 'getAllowance',
    tag: 'Allowances',
    summary: 'Get an allowance',
    description: 'With its usage. An agent key sees those that it may use.',
    scopes: ['read'],
    agentKey: 'own',
    params: IdParams,
    query: Fields({
      wait_seconds: Type.Optional(
        WaitSeconds('Wait up to this long for the decision on a requested allowance before responding.'),
      ),
    }),
    responses: { 200: allowance },
    errors: ['not_found'],
  }),
  requestAllowance: route({
    method: 'POST',
    path: '/v1/allowances/request',
    operationId: 'requestAllowance',
    tag: 'Allowances',
    summary: 'Request an allowance',
    description:
      'A person decides it; until then it permits nothing, and without a decision it expires at `decide_by`. A workspace key must name the agent. The same `external_id` with the same body from the same creator answers 200 with the allowance that exists, and `idempotent-replay: true`. Ask with `GET /v1/allowances/:id?wait_seconds` what was decided.',
    scopes: ['authorize'],
    body: RequestAllowanceBody,
    responses: {
      201: { description: 'The requested allowance.', schema: AllowanceBody },
      200: {
        description: 'The allowance that this `external_id` requested before.',
        schema: AllowanceBody,
        headers: { 'idempotent-replay': '`true`' },
      },
    },
    errors: [
      'agent_mismatch',
      'allowance_mismatch',
      'not_found',
      'allowance_exists',
      'allowance_limit',
      'agent_required',
    ],
  }),
  decideAllowance: route({
    method: 'POST',
    path: '/v1/allowances/:id/decide',
    operationId: 'decideAllowance',
    tag: 'Allowances',
    summary: 'Decide a requested allowance',
    description:
      "ALLOW may lower the amount and the limits, name fewer merchants and payees, and end it earlier. Only a `purpose` that is sent here vouches for spends. A reviewer decides up to the authority's `reviewer_allowance_limit_minor`, an administrator beyond. The decision is final.",
    scopes: ['review'],
    weighs: false,
    params: IdParams,
    body: DecideAllowanceBody,
    responses: { 200: allowance },
    errors: ['not_found', 'self_review_forbidden', 'not_reviewable', 'review_final'],
  }),
  updateAllowance: route({
    method: 'PATCH',
    path: '/v1/allowances/:id',
    operationId: 'updateAllowance',
    tag: 'Allowances',
    summary: 'Change an allowance',
    description:
      "Changes its name, amount or expiry from the next request on, within its parent's. An amount below what is used stops further spends and takes nothing back.",
    scopes: ['admin'],
    params: IdParams,
    body: UpdateAllowanceBody,
    responses: { 200: allowance },
    errors: ['not_found', 'allowance_not_open'],
  }),
  revokeAllowance: route({
    method: 'POST',
    path: '/v1/allowances/:id/revoke',
    operationId: 'revokeAllowance',
    tag: 'Allowances',
    summary: 'Revoke an allowance',
    description:
      'From the next request on, on every node, it and all below it permit nothing, and capabilities that were issued under it cannot be consumed. Spends that were executed still count. Revoking it again answers 200 too. An agent key can revoke what agents made.',
    scopes: ['admin', 'review'],
    agentKey: 'own',
    weighs: false,
    params: IdParams,
    body: RevokeAllowanceBody,
    bodyOptional: true,
    responses: { 200: allowance },
    errors: ['not_found'],
  }),
  presentAllowance: route({
    method: 'POST',
    path: '/v1/allowances/present',
    operationId: 'presentAllowance',
    tag: 'Allowances',
    summary: 'Present a signed allowance or a mandate',
    description:
      "Makes the allowance that an issuer signed. The same JWT again, by anyone, answers 200 with the allowance that exists, so its money counts once. Its time is judged by the database, without leeway. Nothing is kept of a JWT that is refused. A mandate (AP2, Verifiable Intent) is presented by the agent's own key, with a key binding for this workspace that is at most 300 seconds old. It is one allowance, whatever of it is disclosed; what the mandate says and Purser cannot bound is refused by name.",
    scopes: ['authorize'],
    agentKey: 'own',
    body: PresentAllowanceBody,
    responses: {
      201: allowance,
      200: {
        description: 'The allowance that this JWT made before.',
        schema: AllowanceBody,
        headers: { 'idempotent-replay': '`true`' },
      },
    },
    errors: [
      'agent_mismatch',
      'allowance_mismatch',
      'allowance_exists',
      'allowance_limit',
      'allowance_not_open',
      'allowance_invalid',
      'agent_required',
    ],
  }),
};
