import type { Authority } from '@purser/contract/authority';
import { routes } from '@purser/contract/routes/authority-readings';
import type { Assess } from '@purser/rules/domain/assessment';
import { ApiError } from '@purser/rules/errors';
import { exampleSpends } from '@purser/rules/purpose/example-spends';
import { showReading } from '@purser/rules/purpose/shown-reading';
import type pg from 'pg';
import { getAuthority, parseAuthority } from '../../engine/storage/authorities.ts';
import { visibleAgent } from '../decisions/visible-agent.ts';
import { type Route, serve } from '../http/route.ts';
import type { WorkTime } from '../scheduling/work-time.ts';

/**
 * Makes the routes that show how an authority is read. `assess_time` is the share of the event loop's time in which the
 * assessments of a workspace are made.
 */
export function makeReadingRoutes(options: { db: pg.Pool; assess: Assess; assess_time: WorkTime }): Route[] {
  const { db, assess, assess_time } = options;
  async function read(workspace_id: string, authority: Authority) {
    return assess_time.spend(workspace_id, () => {
      const reading = showReading(authority);
      return { ...reading, examples: exampleSpends(authority, reading, assess) };
    });
  }
  return [
    serve(routes.readDraftAuthority, { shares: 'reads' })(async (call) => ({
      status: 200,
      body: await read(call.caller.workspace_id, call.body),
    })),
    serve(routes.readAuthority, { shares: 'reads' })(async (call) => {
      const { workspace_id } = call.caller;
      const { agent_id } = await visibleAgent(db, call.caller, call.params.id);
      const row = await getAuthority(db, workspace_id, agent_id, null);
      if (row === undefined) throw new ApiError('not_found', 'The agent has no authority.');
      return { status: 200, body: await read(workspace_id, parseAuthority(row)) };
    }),
  ];
}
