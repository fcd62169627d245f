import { route } from '@purser/contract/route';
import type { Authority, AuthorityRow } from '@purser/rules/domain/authorities';
import { ApiError, invalidField } from '@purser/rules/errors';
import { authorityProblem } from '@purser/rules/policy/authority-problem';
import type { PastSpends } from '@purser/rules/policy/past-spends';
import { TEXT_LENGTHS } from '@purser/rules/values/text';
import type pg from 'pg';
import Type from 'typebox';
import { createAuthority } from '../../engine/commands/create-authority.ts';
import { Stale } from '../../engine/lane/command.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { getAgent } from '../../engine/storage/agents.ts';
import { getAuthority, listAuthorityVersions, parseAuthority } from '../../engine/storage/authorities.ts';
import { readPastSpends } from '../decisions/read-past-spends.ts';
import { visibleAgent } from '../decisions/visible-agent.ts';
import { type Cursors, pageOf } from '../http/cursors.ts';
import { type Route, serve } from '../http/route.ts';
import { Fields, Id, LongText, Nullable, PageQuery, page, QueryInteger, Timestamp } from '../http/schemas.ts';
import { originOf } from '../people/callers.ts';
import { AuthorityBody } from './schemas/authorities.ts';

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
  { $id: 'AuthorityRequest', 'x-together': authorityProblem },
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

function authorityBody(row: AuthorityRow) {
  const { agent_id, version, hash, created_at, key_id, principal_id, note } = row;
  const authority = parseAuthority(row);
  return {
    agent_id,
    version,
    hash,
    authority,
    created_at,
    created_by: { key_id, principal_id },
    note,
  };
}

/** The hash that `if-match` names; null without the header. */
function expectedHash(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const found = /^"(sha256:[0-9a-f]{64})"$/.exec(String(header).trim());
  if (found === null)
    throw invalidField('if-match', 'must be the hash of a version in double quotes: "sha256:…"');
  return found[1] as string;
}

/** Each change of the authority meanwhile takes another attempt. */
const MAX_ATTEMPTS = 5;

/** Sums an agent's spends for the new limits of an authority; null without new limits or without such an agent. */
async function pastOf(
  db: pg.Pool,
  workspace_id: string,
  ref: string,
  authority: Authority,
): Promise<PastSpends | null> {
  const { velocity_limits = [], duplicate_window_seconds } = authority;
  if (velocity_limits.length === 0 && duplicate_window_seconds === undefined) return null;
  const agent = await getAgent(db, workspace_id, ref);
  if (agent === undefined) return null;
  return readPastSpends(db, workspace_id, agent, authority);
}

const routes = {
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

/** What agents are allowed, version by version. */
export function makeAuthorityRoutes(options: { db: pg.Pool; lane: Lane; cursors: Cursors }): Route[] {
  const { db, lane, cursors } = options;
  return [
    serve(routes.createAuthority)(async (call) => {
      const { note = null, ...authority } = call.body;
      const expected_hash = expectedHash(call.headers['if-match']);
      const { workspace_id } = call.caller;
      const given = { agent: call.params.id, authority, note: note === '' ? null : note, expected_hash };
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        const past = await pastOf(db, workspace_id, call.params.id, authority);
        const row = await lane.submit(workspace_id, createAuthority, { ...given, past }, originOf(call));
        if (!(row instanceof Stale)) return { status: 201, body: authorityBody(row) };
      }
      throw new ApiError(
        'unavailable',
        'The agent made spends, or its authority changed, faster than past spends could be counted; nothing was changed; retry.',
        { retry_after_s: 1 },
      );
    }),
    serve(routes.getAuthority, { shares: 'reads' })(async (call) => {
      const agent = await visibleAgent(db, call.caller, call.params.id);
      const row = await getAuthority(
        db,
        call.caller.workspace_id,
        agent.agent_id,
        call.query.version ?? null,
      );
      if (row === undefined) throw new ApiError('not_found', 'No such authority.');
      return { status: 200, body: authorityBody(row) };
    }),
    serve(routes.listAuthorityVersions, { shares: 'reads' })(async (call) => {
      const { limit = 50, cursor } = call.query;
      const { workspace_id } = call.caller;
      const { agent_id } = await visibleAgent(db, call.caller, call.params.id);
      const list = ['listAuthorityVersions', workspace_id, agent_id];
      const before = cursors.open(list, cursor) as number | null;
      const found = await listAuthorityVersions(db, workspace_id, agent_id, { before, limit });
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.version));
      return { status: 200, body: { data: rows.map(authorityBody), next_cursor } };
    }),
  ];
}
