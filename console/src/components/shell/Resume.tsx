import type { Workspace } from '@purser/sdk';
import { purser } from '../../api/client.ts';
import { Confirm } from '../Confirm.tsx';

/** Asks before all agents may spend again. */
export default function Resume({
  reason,
  onResumed,
  onClose,
}: {
  reason: string;
  onResumed: (workspace: Workspace) => void;
  onClose: () => void;
}) {
  return (
    <Confirm
      title="Resume all agents?"
      action="Resume all agents"
      danger={false}
      work={async () => onResumed(await purser.workspace.resume())}
      onClose={onClose}
    >
      <p>
        From their next request, agents can spend again. Capabilities that have not expired work again. Paused
        and revoked agents stay as they are.
      </p>
      <p>Make sure that the reason for the stop is resolved:</p>
      <p>
        <q>{reason}</q>
      </p>
    </Confirm>
  );
}
