import type { Plan, Workspace } from '@purser/rules/domain/workspace';
import { type Command, done, refuse } from '../lane/command.ts';

/**
 * Changes a workspace's plan. Agents in ENFORCE stay in it, even if the new plan does not include it: a plan that lapses
 * must not let spends through.
 */
export const setPlan: Command<{ plan: Plan }, Workspace> = {
  name: 'setPlan',
  needs: () => ({ workspace: true }),
  apply(set, { plan }, origin) {
    const before = set.workspace();
    if (before === undefined) return refuse('not_found', 'No such workspace.');
    if (before.plan === plan) return done(before);
    const workspace = { ...before, plan };
    set.putWorkspace(workspace);
    set.audit('plan.changed', { type: 'workspace', id: workspace.workspace_id }, origin, {
      from: { plan: before.plan },
      to: { plan },
      state: { workspace },
    });
    return done(workspace);
  },
};
