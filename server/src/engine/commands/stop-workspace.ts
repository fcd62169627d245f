import { encodeStop, type Workspace, type WorkspaceStop } from '@purser/rules/domain/workspace';
import { type Command, done, refuse } from '../lane/command.ts';

export interface StopWorkspaceInput {
  /** Why all agents are stopped; null ends a stop. */
  reason: string | null;
}

/**
 * Stops all agents of a workspace at once, or ends that: no decision is made and no capability consumed from the next
 * command on, on every node. What is stopped already keeps its first moment and reason, and nothing is written.
 */
export const stopWorkspace: Command<
  StopWorkspaceInput,
  { workspace: Workspace; stop: WorkspaceStop | null }
> = {
  name: 'stopWorkspace',
  needs: () => ({ workspace: true }),
  apply(set, { reason }, origin) {
    const workspace = set.workspace();
    if (workspace === undefined) return refuse('not_found', 'No such workspace.');
    const { workspace_id } = workspace;
    const before = set.stop;
    if ((before === null) === (reason === null)) return done({ workspace, stop: before });
    const { key_id, principal_id } = origin.actor;
    const stop = reason === null ? null : { at: set.now, by: { key_id, principal_id }, reason };
    set.stop = stop;
    set.audit(
      stop === null ? 'workspace.resumed' : 'workspace.stopped',
      { type: 'workspace', id: workspace_id },
      origin,
      {
        from: { stopped: before },
        to: { stopped: stop },
        state: { stop: { workspace_id, stop: encodeStop(stop) } },
      },
    );
    return done({ workspace, stop });
  },
};
