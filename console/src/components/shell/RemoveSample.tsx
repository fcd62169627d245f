import { purser } from '../../api/client.ts';
import { Confirm } from '../Confirm.tsx';

/** Asks before the workspace of sample data is removed. */
export default function RemoveSample({ onRemoved, onClose }: { onRemoved: () => void; onClose: () => void }) {
  return (
    <Confirm
      title="Remove sample data?"
      action="Remove"
      recorded={false}
      work={async () => {
        await purser.workspace.removeSample();
        onRemoved();
      }}
      onClose={onClose}
    >
      <p>
        The workspace is removed with everything in it, including agents, keys and requests that you added to
        it. Your other workspaces stay as they are. You can create sample data again at any time.
      </p>
    </Confirm>
  );
}
