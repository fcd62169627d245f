import type { Agent, AgentStatus, Mode } from '@purser/rules/domain/agents';
import { mayEnforce } from '@purser/rules/domain/workspace';
import { type Command, done, refuse } from '../lane/command.ts';
import { ENFORCE_NEEDS_PLAN } from './create-agent.ts';

export interface UpdateAgentInput {
  /** Id or slug. */
  agent: string;
  changes: { name?: string; status?: AgentStatus; mode?: Mode };
}

/** Changes an agent's name, status or mode. Revoking is permanent. Without a difference nothing is written. */
export const updateAgent: Command<UpdateAgentInput, Agent> = {
  name: 'updateAgent',
  needs: ({ agent }) => ({ agents: [agent], workspace: true }),
  apply(set, input, origin) {
    const before = set.agent(input.agent);
    const workspace = set.workspace();
    if (before === undefined || workspace === undefined) return refuse('not_found', 'No such agent.');
    const { name = before.name, status = before.status, mode = before.mode } = input.changes;
    if (before.status === 'revoked' && status !== 'revoked') {
      return refuse(
        'invalid_request',
        'status: a revoked agent cannot return to another status; create a new agent',
      );
    }
    if (mode === 'ENFORCE' && before.mode !== 'ENFORCE' && !mayEnforce(workspace)) {
      return refuse('plan_required', ENFORCE_NEEDS_PLAN);
    }
    if (name === before.name && status === before.status && mode === before.mode) return done(before);
    const agent: Agent = { ...before, name, status, mode, updated_at: set.now };
    set.putAgent(agent);
    set.audit('agent.updated', { type: 'agent', id: agent.agent_id }, origin, {
      from: { name: before.name, status: before.status, mode: before.mode },
      to: { name, status, mode },
      state: { agent },
    });
    return done(agent);
  },
};
