import { routes } from '@purser/contract/routes/api-keys';
import type { Actor } from '@purser/rules/domain/audit';
import { type ApiKey, allowanceOf, keyBody, keyStatus } from '@purser/rules/domain/keys';
import { ApiError, invalidField } from '@purser/rules/errors';
import type pg from 'pg';
import { createApiKey } from '../../engine/commands/create-api-key.ts';
import { revokeApiKey } from '../../engine/commands/revoke-api-key.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { loadAgents } from '../../engine/storage/agents.ts';
import { listKeys } from '../../engine/storage/api-keys.ts';
import { loadKeyCreators } from '../../engine/storage/audit.ts';
import type { ReadChain } from '../allowances/chains.ts';
import { type Cursors, pageOf } from '../http/cursors.ts';
import { type Route, serve } from '../http/route.ts';
import type { MakeKeyValue } from '../installation/secrets.ts';
import { originOf, ownPrincipal } from '../people/callers.ts';
import { currentAgent } from './keys/current-agent.ts';

const makerBody = ({ type, key_id, principal_id }: Actor) => ({ type, key_id, principal_id });

interface Options {
  db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
  readChain: ReadChain;
  makeKeyValue: MakeKeyValue;
}

const handleCreate = ({ lane, readChain, makeKeyValue }: Options) =>
  serve(routes.createApiKey, {
    isWeighty: ({ body }) => body.scopes?.some((scope) => scope !== 'read') ?? true,
  })(async (call) => {
    const { name, agent_id, scopes, principal_id, allowance, expires_in_seconds } = call.body;
    if (agent_id === undefined && scopes === undefined) {
      throw invalidField('scopes', 'is required for a scoped key; an agent key takes agent_id instead');
    }
    if (agent_id !== undefined && scopes !== undefined) {
      throw invalidField('scopes', 'must be omitted for an agent key, which has the scope authorize');
    }
    if (agent_id !== undefined && principal_id !== undefined) {
      throw invalidField('principal_id', 'must be omitted for an agent key');
    }
    if (agent_id === undefined && allowance !== undefined) {
      throw invalidField('agent_id', 'is required for a key that is bound to an allowance');
    }
    const chain = allowance === undefined ? undefined : await readChain(call.caller.workspace_id, allowance);
    if (allowance !== undefined && chain === undefined)
      throw new ApiError('not_found', 'allowance: no such allowance.');
    const { value, stored } = makeKeyValue();
    const key = await lane.submit(
      call.caller.workspace_id,
      createApiKey,
      {
        name,
        agent: agent_id ?? null,
        scopes: scopes ?? [],
        // What a person's key asks for counts as the person's own, so that they cannot review it.
        principal_id: principal_id ?? (agent_id === undefined ? ownPrincipal(call) : null),
        acting_principal: call.caller.principal_id,
        expires_in_seconds: expires_in_seconds ?? null,
        bound_to: chain?.allowances ?? [],
        ...stored,
      },
      originOf(call),
    );
    const { id, ...rest } = keyBody(key);
    return { status: 201, body: { id, key: value, ...rest } };
  });

/** Makes the routes for API keys. */
export function makeApiKeyRoutes(options: Options): Route[] {
  const { db, lane, cursors } = options;
  return [
    handleCreate(options),
    serve(routes.getCurrentApiKey)(async ({ caller }) => {
      const { workspace_id, key_id, kind, scopes, agent_id, principal_id } = caller;
      if (key_id === null)
        throw new ApiError('insufficient_scope', 'This route is for keys; signed-in people use GET /v1/me.');
      const agent = agent_id === null ? {} : { agent: await currentAgent(db, workspace_id, agent_id) };
      const allowance_id = allowanceOf(caller);
      return {
        status: 200,
        body: { id: key_id, kind, scopes, agent_id, principal_id, allowance_id, ...agent },
      };
    }),
    serve(routes.listApiKeys, { shares: 'reads' })(async (call) => {
      const { limit = 50, cursor, ...asked } = call.query;
      const { workspace_id } = call.caller;
      const list = ['listApiKeys', workspace_id, asked];
      const after = cursors.open(list, cursor) as string | null;
      const { agent, ...rest } = asked;
      const agents = agent === undefined ? undefined : await loadAgents(db, workspace_id, agent);
      const filters = { ...rest, ...(agents && { agent_ids: agents.map(({ agent_id }) => agent_id) }) };
      const found = await listKeys(db, workspace_id, { after, limit: limit + 1, ...rest }, filters);
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.key_id));
      const ids = rows.map(({ key_id }) => key_id);
      const makers = await loadKeyCreators(db, workspace_id, ids);
      const creatorOf = ({ key_id }: ApiKey) => {
        const maker = makers.get(key_id);
        return maker === undefined ? null : makerBody(maker);
      };
      const data = rows.map((key) => ({
        ...keyBody(key),
        hint: key.hint,
        last_used_at: key.last_used_at,
        created_by: creatorOf(key),
        status: keyStatus(key, key.clock_ms),
      }));
      return { status: 200, body: { data, next_cursor } };
    }),
    serve(routes.revokeApiKey)(async (call) => {
      await lane.submit(call.caller.workspace_id, revokeApiKey, { key_id: call.params.id }, originOf(call));
      return { status: 204 };
    }),
  ];
}
