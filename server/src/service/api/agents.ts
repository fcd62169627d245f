import { routes } from '@purser/contract/routes/agents';
import { agentBody } from '@purser/rules/domain/agents';
import type pg from 'pg';
import { createAgent } from '../../engine/commands/create-agent.ts';
import { updateAgent } from '../../engine/commands/update-agent.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { listAgents } from '../../engine/storage/agents.ts';
import { loadWorkspace } from '../../engine/storage/workspaces.ts';
import { loadAgentLimits } from '../decisions/agent-limits.ts';
import { type AgentStanding, loadAgentStandings } from '../decisions/agent-standings.ts';
import { visibleAgent } from '../decisions/visible-agent.ts';
import { type Cursors, pageOf } from '../http/cursors.ts';
import { type Route, serve } from '../http/route.ts';
import { originOf } from '../people/callers.ts';

/** The agents of a workspace. */
export function makeAgentRoutes(options: { db: pg.Pool; lane: Lane; cursors: Cursors }): Route[] {
  const { db, lane, cursors } = options;

  return [
    serve(routes.createAgent, {
      isWeighty: async (call) => {
        const { authority, mode = (await loadWorkspace(db, call.caller.workspace_id))?.mode } = call.body;
        return authority !== undefined || mode !== 'SHADOW';
      },
    })(async (call) => {
      const agent = await lane.submit(call.caller.workspace_id, createAgent, call.body, originOf(call));
      return { status: 201, body: agentBody(agent) };
    }),
    serve(routes.listAgents, { shares: 'reads' })(async (call) => {
      const { limit = 50, cursor, ...filters } = call.query;
      const { workspace_id } = call.caller;
      const list = ['listAgents', workspace_id, filters];
      const after = cursors.open(list, cursor) as string | null;
      const found = await listAgents(db, workspace_id, { after, limit: limit + 1, ...filters }, filters);
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.agent_id));
      const standings = await loadAgentStandings(db, workspace_id, rows);
      return {
        status: 200,
        body: {
          data: rows.map((agent, i) => ({ ...agentBody(agent), ...(standings[i] as AgentStanding) })),
          next_cursor,
        },
      };
    }),
    serve(routes.getAgent, { shares: 'reads' })(async (call) => {
      const agent = await visibleAgent(db, call.caller, call.params.id);
      const [standing] = await loadAgentStandings(db, call.caller.workspace_id, [agent]);
      return { status: 200, body: { ...agentBody(agent), ...(standing as AgentStanding) } };
    }),
    serve(routes.listAgentLimits, { shares: 'reads' })(async (call) => {
      const agent = await visibleAgent(db, call.caller, call.params.id);
      const data = await loadAgentLimits(db, call.caller.workspace_id, agent);
      return { status: 200, body: { data, next_cursor: null } };
    }),
    serve(routes.updateAgent, {
      isWeighty: ({ body }) => body.mode !== undefined || body.status === 'active',
    })(async (call) => {
      const input = { agent: call.params.id, changes: call.body };
      const agent = await lane.submit(call.caller.workspace_id, updateAgent, input, originOf(call));
      return { status: 200, body: agentBody(agent) };
    }),
  ];
}
