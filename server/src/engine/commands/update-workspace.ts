import type { Mode } from '@purser/rules/domain/agents';
import { mayEnforce, type SeparationOfDuties, type Workspace } from '@purser/rules/domain/workspace';
import { coverageSettings } from '@purser/rules/matching/settings';
import { type CoverageSettings, DEFAULT_COVERAGE } from '@purser/rules/matching/spends';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import { type Command, done, refuse } from '../lane/command.ts';
import { ENFORCE_NEEDS_PLAN } from './create-agent.ts';

export interface UpdateWorkspaceInput {
  name?: string;
  /** The mode of new agents; those that there are keep theirs. */
  mode?: Mode;
  separation_of_duties?: SeparationOfDuties;
  time_zone?: string;
  /** Settings left out stay as they are. */
  coverage?: Partial<CoverageSettings>;
}

/** Changes a workspace's name, the mode of its new agents, who may review besides the requester, the time zone of its days, or how lines are compared with decisions. Without a difference nothing is written. */
export const updateWorkspace: Command<UpdateWorkspaceInput, Workspace> = {
  name: 'updateWorkspace',
  needs: () => ({ workspace: true }),
  apply(set, input, origin) {
    const before = set.workspace();
    if (before === undefined) return refuse('not_found', 'No such workspace.');
    const { name = before.name, mode = before.mode } = input;
    const { separation_of_duties = before.separation_of_duties, time_zone = before.time_zone } = input;
    const settings = { ...coverageSettings(before), ...input.coverage };
    const is_default = canonicalJson(settings) === canonicalJson(DEFAULT_COVERAGE);
    const coverage = is_default ? null : canonicalJson(settings);
    const changed = { name, mode, separation_of_duties, time_zone };
    const workspace = { ...before, ...changed, coverage };
    if (canonicalJson(workspace) === canonicalJson(before)) return done(before);
    if (mode === 'ENFORCE' && before.mode !== 'ENFORCE' && !mayEnforce(before)) {
      return refuse('plan_required', ENFORCE_NEEDS_PLAN);
    }
    set.putWorkspace(workspace);
    set.audit('workspace.updated', { type: 'workspace', id: workspace.workspace_id }, origin, {
      from: { ...before, coverage: coverageSettings(before) },
      to: { ...changed, coverage: settings },
      state: { workspace },
    });
    return done(workspace);
  },
};
