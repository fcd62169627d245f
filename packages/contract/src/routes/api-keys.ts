import { Type } from 'typebox';
import { KEY_FIELDS, KeyLife, NewKeyBody } from '../keys/api-keys.ts';
import { TEXT_LENGTHS } from '../limits.ts';
import { ModelUsageBody } from '../models/fields.ts';
import { route } from '../route.ts';
import {
  AgentRef,
  AllowanceRef,
  Fields,
  Id,
  LimitMinor,
  Line,
  Nullable,
  OneOf,
  PageQuery,
  PrincipalId,
  page,
  QuerySeveral,
  SortQuery,
  Timestamp,
} from '../schema.ts';
import { AGENT_STATUSES, MODES } from '../values/agents.ts';
import { KEY_KINDS, KEY_STATUSES } from '../values/keys.ts';
import { ACTOR_TYPES } from '../values/ledger.ts';
import { SCOPES } from '../values/scopes.ts';

const CreateKeyBody = Fields(
  {
    name: Line({ max: TEXT_LENGTHS.name }, { examples: ['infra-bot in production'] }),
    agent_id: Type.Optional(AgentRef({ description: 'Creates an agent key, bound to this agent.' })),
    scopes: Type.Optional(
      Type.Array(OneOf(SCOPES), {
        minItems: 1,
        maxItems: SCOPES.length,
        uniqueItems: true,
        description: 'Creates a scoped key.',
        examples: [['review', 'read']],
      }),
    ),
    principal_id: Type.Optional(
      PrincipalId({
        description:
          'Reviews by this key are attributed to it. Scoped keys only. Only the person themselves can use the principal of a current or former member.',
      }),
    ),
    allowance: Type.Optional(
      AllowanceRef({
        description:
          'Binds the agent key to an open allowance of the agent: it spends under that one or one below it, sees nothing else, and ends with it at the latest.',
      }),
    ),
    expires_in_seconds: Type.Optional(
      KeyLife({ description: 'Without it the key never expires, except with its allowance.' }),
    ),
  },
  { examples: [{ name: 'infra-bot in production', agent_id: 'infra-bot' }] },
);

const KeyItem = Fields(
  {
    ...KEY_FIELDS,
    hint: Type.String({ examples: ['sk_…a1b2'] }),
    last_used_at: Nullable(Timestamp({ description: 'Accurate to the minute.' })),
    created_by: Nullable(
      Fields(
        {
          type: OneOf(ACTOR_TYPES),
          key_id: Nullable(Id('api_key')),
          principal_id: Nullable(Type.String({ examples: ['user:ada'] })),
        },
        { $id: 'KeyMaker', description: 'Who created it; null if this was not recorded.' },
      ),
    ),
    status: OneOf(KEY_STATUSES),
  },
  { $id: 'ApiKey' },
);

const CurrentAgentBody = Fields(
  {
    id: Id('agent'),
    slug: Type.String({ examples: ['infra-bot'] }),
    mode: OneOf(MODES),
    status: OneOf(AGENT_STATUSES),
    may_spend: Type.Boolean({
      description: 'False while the agent is paused or revoked, or all agents are stopped.',
    }),
    authority: Nullable(
      Fields({
        hash: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
        currency: Type.String({ examples: ['EUR'] }),
        per_transaction_limit_minor: Nullable(LimitMinor()),
        review_threshold_minor: Nullable(LimitMinor()),
        model_usage: Nullable(ModelUsageBody),
      }),
    ),
  },
  { $id: 'CurrentAgent', description: "The key's agent; omitted for other keys." },
);

const CurrentKey = Fields(
  {
    id: KEY_FIELDS.id,
    kind: KEY_FIELDS.kind,
    scopes: KEY_FIELDS.scopes,
    agent_id: KEY_FIELDS.agent_id,
    principal_id: KEY_FIELDS.principal_id,
    allowance_id: KEY_FIELDS.allowance_id,
    agent: Type.Optional(CurrentAgentBody),
  },
  { $id: 'CurrentApiKey' },
);

const IdParams = Fields({ id: Type.String() });

const ListQuery = Fields({
  agent: Type.Optional(QuerySeveral(AgentRef(), { description: 'Keys bound to this agent, by slug or id.' })),
  status: Type.Optional(QuerySeveral(OneOf(KEY_STATUSES))),
  kind: Type.Optional(QuerySeveral(OneOf(KEY_KINDS))),
  person: Type.Optional(
    PrincipalId({
      description:
        'Keys that this person created, directly or through other keys, or that carry this principal.',
    }),
  ),
  ...SortQuery(['created_at']),
  ...PageQuery,
});

export const routes = {
  createApiKey: route({
    method: 'POST',
    path: '/v1/api-keys',
    operationId: 'createApiKey',
    tag: 'API keys',
    summary: 'Create a key',
    description:
      'Give either `agent_id` (an agent key) or `scopes` (a scoped key). The value is shown once, in this response; the service stores only a keyed hash. A scoped key created by a signed-in person carries that person’s principal unless another is given. For scopes beyond `read`, an administrator needs a fresh proof of identity.',
    scopes: ['admin'],
    weighs: 'by_request',
    body: CreateKeyBody,
    responses: { 201: { description: 'The key, with its value.', schema: NewKeyBody } },
    errors: ['not_found', 'allowance_not_open'],
  }),
  getCurrentApiKey: route({
    method: 'GET',
    path: '/v1/api-keys/current',
    operationId: 'getCurrentApiKey',
    tag: 'API keys',
    summary: 'Get the current key and its scopes',
    description: 'Any key may call this, and sees only itself. A signed-in person uses `GET /v1/me`.',
    scopes: SCOPES,
    responses: { 200: { description: 'The key.', schema: CurrentKey } },
    errors: [],
  }),
  listApiKeys: route({
    method: 'GET',
    path: '/v1/api-keys',
    operationId: 'listApiKeys',
    tag: 'API keys',
    summary: 'List keys',
    description:
      'Newest first unless `order` says otherwise, including revoked and expired keys, without their values. Filters combine with AND.',
    scopes: ['admin'],
    query: ListQuery,
    responses: { 200: { description: 'A page of keys.', schema: page(KeyItem, { $id: 'ApiKeyPage' }) } },
    errors: [],
  }),
  revokeApiKey: route({
    method: 'DELETE',
    path: '/v1/api-keys/:id',
    operationId: 'revokeApiKey',
    tag: 'API keys',
    summary: 'Revoke a key',
    description: 'Takes effect on the next request, on every node. Revoking it again also answers 204.',
    scopes: ['admin'],
    weighs: false,
    params: IdParams,
    responses: { 204: { description: 'The key is revoked.', schema: null } },
    errors: ['not_found', 'last_admin_key'],
  }),
};
