import type { Authority } from '@purser/contract/authority';
import { routes } from '@purser/contract/routes/authorities';
import type { AuthorityRow } from '@purser/rules/domain/authorities';
import { ApiError } from '@purser/rules/errors';
import type { PastSpends } from '@purser/rules/policy/past-spends';
import type pg from 'pg';
import { createAuthority } from '../../engine/commands/create-authority.ts';
import { Stale } from '../../engine/lane/command.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { getAgent } from '../../engine/storage/agents.ts';
import { getAuthority, listAuthorityVersions, parseAuthority } from '../../engine/storage/authorities.ts';
import { readPastSpends } from '../decisions/read-past-spends.ts';
import { visibleAgent } from '../decisions/visible-agent.ts';
import { expectedHash } from '../http/call.ts';
import { type Cursors, pageOf } from '../http/cursors.ts';
import { type Route, serve } from '../http/route.ts';
import { originOf } from '../people/callers.ts';

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

/** Routes for authorities and their versions. */
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
