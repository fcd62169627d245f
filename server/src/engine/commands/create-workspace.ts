import type { ApiKey } from '@purser/rules/domain/keys';
import { keyBody } from '@purser/rules/domain/keys';
import type { Plan, Workspace } from '@purser/rules/domain/workspace';
import { type Command, done } from '../lane/command.ts';

export interface CreateWorkspaceInput {
  workspace_id: string;
  name: string;
  plan: Plan;
  /** The length of a trial of the Team plan in days; null: no trial. */
  trial_days: number | null;
  /** It will hold invented data. */
  sample: boolean;
  /** The first admin key, hashed already. */
  admin_key: { digest: Buffer; secret_id: string; hint: string };
}

const DAY_MS = 86_400_000;

/** Creates a workspace in SHADOW and its first admin key. */
export const createWorkspace: Command<CreateWorkspaceInput, { workspace: Workspace; key_id: string }> = {
  name: 'createWorkspace',
  begins_workspace: true,
  needs: () => ({ workspace: true }),
  apply(set, input, origin) {
    const { trial_days } = input;
    const workspace: Workspace = {
      workspace_id: input.workspace_id,
      name: input.name,
      mode: 'SHADOW',
      plan: input.plan,
      trial_plan: trial_days === null ? null : 'team',
      trial_started_at: trial_days === null ? null : set.now,
      trial_ends_at: trial_days === null ? null : new Date(set.now_ms + trial_days * DAY_MS).toISOString(),
      separation_of_duties: 'AUTO',
      time_zone: 'UTC',
      coverage: null,
      sample: input.sample,
      created_at: set.now,
    };
    set.putWorkspace(workspace);
    const { workspace_id, created_at, sample, ...rest } = workspace;
    const shown = sample ? { ...rest, sample } : rest;
    set.audit('workspace.created', { type: 'workspace', id: workspace_id }, origin, {
      from: null,
      to: shown,
      state: { workspace },
    });
    const key: ApiKey = {
      key_id: set.newId('api_key'),
      name: 'First admin key',
      kind: 'admin',
      scopes: ['admin', 'review', 'read', 'authorize'],
      agent_id: null,
      principal_id: null,
      digest: input.admin_key.digest,
      hint: input.admin_key.hint,
      created_at,
      expires_at: null,
      revoked_at: null,
      made_by_key_id: null,
      made_by_principal_id: null,
      made_by_person: null,
      allowance_path: [],
      maker_key_ids: [],
    };
    set.keys.add(key, input.admin_key.secret_id);
    set.audit('api_key.created', { type: 'api_key', id: key.key_id }, origin, {
      from: null,
      to: keyBody(key),
      state: { api_key: key },
    });
    return done({ workspace, key_id: key.key_id });
  },
};
