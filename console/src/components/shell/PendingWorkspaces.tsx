import type { Me } from '@purser/sdk';
import { purser, QUIET } from '../../api/client.ts';
import { meQuery, queryClient } from '../../api/queries.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { Button } from '../Button.tsx';
import { ErrorNotice, Notice } from '../Notice.tsx';

/**
 * Workspaces that added this person before they proved their e-mail. Somebody else may have used the address, so the
 * person joins or leaves each one explicitly.
 */
export function PendingWorkspaces({ me }: { me: Me }) {
  return me.workspaces
    .filter((each) => each.status === 'pending')
    .map((each) => <Pending key={each.id} id={each.id} name={each.name} />);
}

function Pending({ id, name }: { id: string; name: string }) {
  const joining = useAction(async () => {
    queryClient.setQueryData(meQuery.queryKey, await purser.me.acceptWorkspace(id, QUIET));
  });
  const leaving = useAction(async () => {
    await purser.me.leaveWorkspace(id, QUIET);
    await queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
  });
  const error = joining.error ?? leaving.error;
  return (
    <>
      <Notice
        tone="warn"
        title={`You were added to ${name} before you verified this e-mail.`}
        actions={
          <>
            <Button kind="primary" busy={joining.busy} onClick={() => void joining.run()}>
              Join {name}
            </Button>
            <Button busy={leaving.busy} onClick={() => void leaving.run()}>
              Leave {name}
            </Button>
          </>
        }
      >
        Join only if you know who runs it. Until then you have no access there.
      </Notice>
      {error !== null && <ErrorNotice error={error} />}
    </>
  );
}
