import type { Mode } from '../domain/agents.ts';
import { mayEnforce, type Workspace } from '../domain/workspace.ts';
import { type Command, done, refuse } from '../lane/command.ts';
import { ENFORCE_NEEDS_PLAN } from './create-agent.ts';

export interface UpdateWorkspaceInput {
  name?: string;
  /** The mode of new agents; those that there are keep theirs. */
  mode?: Mode;
}

/** Changes a workspace's name or the mode of its new agents. Without a difference nothing is written. */
export const updateWorkspace: Command<UpdateWorkspaceInput, Workspace> = {
  name: 'updateWorkspace',
  needs: () => ({ workspace: true }),
  apply(set, input, origin) {
    const before = set.workspace();
    if (before === undefined) return refuse('not_found', 'There is no such workspace.');
    const { name = before.name, mode = before.mode } = input;
    if (name === before.name && mode === before.mode) return done(before);
    if (mode === 'ENFORCE' && before.mode !== 'ENFORCE' && !mayEnforce(before)) {
      return refuse('plan_required', ENFORCE_NEEDS_PLAN);
    }
    const workspace = { ...before, name, mode };
    set.putWorkspace(workspace);
    set.audit('workspace.updated', { type: 'workspace', id: workspace.workspace_id }, origin, {
      from: { name: before.name, mode: before.mode },
      to: { name, mode },
      state: { workspace },
    });
    return done(workspace);
  },
};
