import { useQuery } from '@tanstack/react-query';
import { door } from '../api/door.ts';
import { isMember, meQuery } from '../api/queries.ts';
import { useAction } from '../lib/hooks/use-action.ts';
import { Entrance } from '../screens/sign-in/Entrance.tsx';
import { Button } from './Button.tsx';
import { ErrorNotice } from './Notice.tsx';
import { PendingWorkspaces } from './shell/PendingWorkspaces.tsx';
import { Shell } from './shell/Shell.tsx';

/** The page of a signed-in person: the shell, or first the workspaces to join or leave. */
export function Inside() {
  const { data: me } = useQuery(meQuery);
  const signingOut = useAction(async () => {
    await door.signOut();
    location.assign('/console/sign-in');
  });
  // The last workspace was left, or the session ended meanwhile.
  if (!me) {
    return (
      <Entrance title="You are signed out">
        <a href="/console/sign-in">Sign in</a>
      </Entrance>
    );
  }
  if (isMember(me)) return <Shell />;
  return (
    <Entrance title="Join or leave" lead={`You are signed in as ${me.user.email}.`}>
      <PendingWorkspaces me={me} />
      {signingOut.error !== null && <ErrorNotice error={signingOut.error} />}
      <Button busy={signingOut.busy} onClick={() => void signingOut.run()}>
        Sign out
      </Button>
    </Entrance>
  );
}
