import type { Authority } from '@purser/contract/authority';
import { routes } from '@purser/contract/routes/authority-readings';
import type { Assess } from '@purser/rules/domain/assessment';
import { type Caller, holderOf } from '@purser/rules/domain/keys';
import { ApiError } from '@purser/rules/errors';
import { exampleSpends } from '@purser/rules/purpose/example-spends';
import { showReading } from '@purser/rules/purpose/shown-reading';
import type pg from 'pg';
import { getAuthority, parseAuthority } from '../../engine/storage/authorities.ts';
import { visibleAgent } from '../decisions/visible-agent.ts';
import { type Route, serve } from '../http/route.ts';
import { assessed } from '../scheduling/prices.ts';
import type { Turns } from '../scheduling/turns.ts';

/** Makes the routes that show how an authority is read. */
export function makeReadingRoutes(options: { db: pg.Pool; assess: Assess; turns: Turns }): Route[] {
  const { db, assess, turns } = options;
  async function read(caller: Caller, authority: Authority) {
    return turns.spend(holderOf(caller), 'assessments_time', () =>
      assessed(() => {
        const reading = showReading(authority);
        return { ...reading, examples: exampleSpends(authority, reading, assess) };
      }),
    );
  }
  return [
    serve(routes.readDraftAuthority, { shares: 'reads' })(async (call) => ({
      status: 200,
      body: await read(call.caller, call.body),
    })),
    serve(routes.readAuthority, { shares: 'reads' })(async (call) => {
      const { workspace_id } = call.caller;
      const { agent_id } = await visibleAgent(db, call.caller, call.params.id);
      const row = await getAuthority(db, workspace_id, agent_id, null);
      if (row === undefined) throw new ApiError('not_found', 'The agent has no authority.');
      return { status: 200, body: await read(call.caller, parseAuthority(row)) };
    }),
  ];
}
