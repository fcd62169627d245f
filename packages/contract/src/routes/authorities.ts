import { Type } from 'typebox';
import { AuthorityBody } from '../authority.ts';
import { TEXT_LENGTHS } from '../limits.ts';
import { route } from '../route.ts';
import { Fields, Id, LongText, Nullable, PageQuery, page, QueryInteger, Timestamp } from '../schema.ts';

const AuthorityRequest = Fields(
  {
    ...AuthorityBody.properties,
    note: Type.Optional(
      LongText(
        { max: TEXT_LENGTHS.description },
        { description: 'Why this version is created.', examples: ['Staging moved to larger servers.'] },
      ),
    ),
  },
  { $id: 'AuthorityRequest', 'x-together': 'authority' },
);

const AuthorityVersion = Fields(
  {
    agent_id: Id('agent'),
    version: Type.Integer({ minimum: 1 }),
    hash: Type.String({ description: '`sha256:` + hex SHA-256 of the RFC 8785 form of the authority.' }),
    authority: AuthorityBody,
    created_at: Timestamp(),
    created_by: Fields({ key_id: Nullable(Type.String()), principal_id: Nullable(Type.String()) }),
    note: Nullable(Type.String({ description: 'Why it was created.' })),
  },
  { $id: 'AuthorityVersion' },
);

const IdParams = Fields({ id: Type.String({ description: "The agent's id or slug." }) });

const ListQuery = Fields(PageQuery);

const VersionQuery = Fields({
  version: Type.Optional(
    QueryInteger({ min: 1, max: 2_147_483_647 }, { description: 'Defaults to the newest.' }),
  ),
});

export const routes = {
  createAuthority: route({
    method: 'POST',
    path: '/v1/agents/:id/authority',
    operationId: 'createAuthority',
    tag: 'Agents',
    summary: "Set an agent's authority",
    description:
      'Takes the whole authority, which becomes the next version; earlier versions stay on record. With the header `if-match: "sha256:…"`, it succeeds only if the current version has this hash, so concurrent edits cannot overwrite each other. A `note` says why; it is stored with the version and is not part of its hash.',
    scopes: ['admin'],
    params: IdParams,
    body: AuthorityRequest,
    responses: { 201: { description: 'The new version.', schema: AuthorityVersion } },
    errors: ['not_found', 'authority_changed'],
  }),
  getAuthority: route({
    method: 'GET',
    path: '/v1/agents/:id/authority',
    operationId: 'getAuthority',
    tag: 'Agents',
    summary: "Get an agent's authority",
    description: 'Returns the newest version, or the one given in `version`.',
    scopes: ['read'],
    agentKey: 'own',
    params: IdParams,
    query: VersionQuery,
    responses: { 200: { description: 'The authority.', schema: AuthorityVersion } },
    errors: ['not_found'],
  }),
  listAuthorityVersions: route({
    method: 'GET',
    path: '/v1/agents/:id/authority/versions',
    operationId: 'listAuthorityVersions',
    tag: 'Agents',
    summary: "List the versions of an agent's authority",
    description: 'Newest first. A page ends at `limit` or at about 1 MB, whichever comes first.',
    scopes: ['read'],
    agentKey: 'own',
    params: IdParams,
    query: ListQuery,
    responses: {
      200: {
        description: 'A page of versions.',
        schema: page(AuthorityVersion, { $id: 'AuthorityVersionPage' }),
      },
    },
    errors: ['not_found'],
  }),
};
