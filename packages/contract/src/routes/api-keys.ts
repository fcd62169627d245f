import { Type } from 'typebox';
import { TEXT_LENGTHS } from '../limits.ts';
import { route } from '../route.ts';
import {
  AgentRef,
  Fields,
  Id,
  Line,
  Nullable,
  OneOf,
  PageQuery,
  PrincipalId,
  page,
  QuerySeveral,
  Timestamp,
  WholeNumber,
} from '../schema.ts';
import { KEY_KINDS, KEY_STATUSES } from '../values/keys.ts';
import { ACTOR_TYPES } from '../values/ledger.ts';
import { SCOPES } from '../values/scopes.ts';

const MIN_LIFE_SECONDS = 60;

const MAX_LIFE_SECONDS = 31_536_000;

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
    expires_in_seconds: Type.Optional(
      WholeNumber(
        { min: MIN_LIFE_SECONDS, max: MAX_LIFE_SECONDS },
        { description: 'Without it the key never expires.' },
      ),
    ),
  },
  { examples: [{ name: 'infra-bot in production', agent_id: 'infra-bot' }] },
);

const shared = {
  id: Id('api_key'),
  name: Type.String(),
  kind: OneOf(KEY_KINDS),
  scopes: Type.Array(OneOf(SCOPES)),
  agent_id: Nullable(Id('agent')),
  principal_id: Nullable(Type.String()),
  created_at: Timestamp(),
  expires_at: Nullable(Timestamp()),
  made_by: Fields(
    { key_id: Nullable(Id('api_key')), principal_id: Nullable(Type.String({ examples: ['user:ada'] })) },
    {
      $id: 'MadeBy',
      description:
        'The creator: a key, with its principal, or a person, with `key_id` null. Both are null for the operator.',
    },
  ),
  made_by_person: Nullable(
    Type.String({
      description:
        'The principal of the person at the root of the chain of creation: the person who created it, or who created the first of the keys that led to it. Null if there is no such person.',
      examples: ['user:ada'],
    }),
  ),
};

const NewKey = Fields(
  { ...shared, key: Type.String({ description: 'The value, shown only here.', pattern: '^sk_' }) },
  { $id: 'NewApiKey' },
);

const KeyItem = Fields(
  {
    ...shared,
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

const CurrentKey = Fields(
  {
    id: shared.id,
    kind: shared.kind,
    scopes: shared.scopes,
    agent_id: shared.agent_id,
    principal_id: shared.principal_id,
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
    responses: { 201: { description: 'The key, with its value.', schema: NewKey } },
    errors: ['not_found'],
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
      'Newest first, including revoked and expired keys, without their values. Filters combine with AND.',
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
