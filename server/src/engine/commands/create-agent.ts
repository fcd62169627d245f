import type { Authority } from '@purser/contract/authority';
import type { Agent, Mode } from '@purser/rules/domain/agents';
import { agentQuota, mayEnforce } from '@purser/rules/domain/workspace';
import { missingList } from '@purser/rules/policy/authority-problem';
import { budgetsProblem } from '@purser/rules/policy/shared-budgets';
import { type Command, done, refuse } from '../lane/command.ts';
import { addAuthorityVersion } from './create-authority.ts';

export interface CreateAgentInput {
  slug: string;
  name?: string;
  /** When left out, the mode of the workspace. */
  mode?: Mode;
  authority?: Authority;
}

export const ENFORCE_NEEDS_PLAN =
  'ENFORCE needs a paid plan; move the workspace to the team or enterprise plan, or stay in SHADOW.';

/** Creates an agent, with its first authority if one is given. */
export const createAgent: Command<CreateAgentInput, Agent> = {
  name: 'createAgent',
  needs: ({ slug, authority }) => ({
    agents: [slug],
    workspace: true,
    shared_budgets: authority?.budgets,
  }),
  apply(set, input, origin) {
    const workspace = set.workspace();
    if (workspace === undefined) return refuse('not_found', 'No such workspace.');
    if (set.agent(input.slug) !== undefined) {
      return refuse(
        'agent_exists',
        `An agent with the slug "${input.slug}" already exists; choose another slug.`,
      );
    }
    const quota = agentQuota(workspace, set.now_ms);
    if (quota !== null && set.agentCount() >= quota) {
      return refuse('agent_limit', `The plan allows ${quota} agents, and ${set.agentCount()} were created.`);
    }
    const mode = input.mode ?? workspace.mode;
    if (mode === 'ENFORCE' && !mayEnforce(workspace)) return refuse('plan_required', ENFORCE_NEEDS_PLAN);
    const agent: Agent = {
      agent_id: set.newId('agent'),
      slug: input.slug,
      name: input.name ?? input.slug,
      mode,
      status: 'active',
      authority_version: null,
      authority_hash: null,
      directory_version: 0,
      answers_version: 0,
      allowances_version: 0,
      created_at: set.now,
      updated_at: set.now,
    };
    const missing = input.authority === undefined ? null : missingList(input.authority, 0);
    if (missing !== null) return refuse('invalid_request', `authority.${missing.field}: ${missing.problem}`);
    const wrong =
      input.authority === undefined ? null : budgetsProblem(input.authority, set.shared_budgets.all());
    if (wrong !== null) return refuse(wrong.code, `authority.${wrong.field}: ${wrong.problem}`);
    set.putAgent(agent);
    set.audit('agent.created', { type: 'agent', id: agent.agent_id }, origin, {
      from: null,
      to: { slug: agent.slug, name: agent.name, mode: agent.mode, status: agent.status },
      state: { agent },
    });
    if (input.authority === undefined) return done(agent);
    return done(addAuthorityVersion(set, agent, { authority: input.authority, note: null }, origin).agent);
  },
};
