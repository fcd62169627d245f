import { useQuery } from '@tanstack/react-query';
import { auth } from '../api/auth.ts';
import { isMember, meQuery } from '../api/queries.ts';
import { useAction } from '../lib/hooks/use-action.ts';
import { SignedOutLayout } from '../screens/sign-in/SignedOutLayout.tsx';
import { Button } from './Button.tsx';
import { ErrorNotice } from './Notice.tsx';
import { PendingWorkspaces } from './shell/PendingWorkspaces.tsx';
import { Shell } from './shell/Shell.tsx';

/** The page after sign-in: the shell, or the workspaces to join or leave first. */
export function SignedInLayout() {
  const { data: me } = useQuery(meQuery);
  const signingOut = useAction(async () => {
    await auth.signOut();
    location.assign('/console/sign-in');
  });
  // The person left their last workspace, or the session ended.
  if (!me) {
    return (
      <SignedOutLayout title="You are signed out">
        <a href="/console/sign-in">Sign in</a>
      </SignedOutLayout>
    );
  }
  if (isMember(me)) return <Shell />;
  return (
    <SignedOutLayout title="Join or leave" lead={`You are signed in as ${me.user.email}.`}>
      <PendingWorkspaces me={me} />
      {signingOut.error !== null && <ErrorNotice error={signingOut.error} />}
      <Button busy={signingOut.busy} onClick={() => void signingOut.run()}>
        Sign out
      </Button>
    </SignedOutLayout>
  );
}
