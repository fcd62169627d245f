import type { InvitationSummary } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { auth } from '../../api/auth.ts';
import { codeOfError } from '../../api/client.ts';
import { homeOf, meQuery, queryClient } from '../../api/queries.ts';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Loading } from '../../components/Page.tsx';
import { useForm } from '../../lib/hooks/use-form.ts';
import { localTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { words } from '../../lib/words.ts';
import { checkAccount, NewAccountFields } from './NewAccount.tsx';
import { SignedOutLayout } from './SignedOutLayout.tsx';

export default function Invitation() {
  const [token] = useState(() => decodeURIComponent(location.hash.slice(1)));
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: async () => auth.readInvitation(token),
    enabled: token !== '',
    // Coming back to the page must not take the form away that a person fills in.
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (token === '' || codeOfError(invitation.error) === 'unauthenticated') {
    return (
      <SignedOutLayout title="Join Purser">
        <Notice tone="bad" title="This invitation doesn’t work.">
          It was used or revoked, or has expired: links last seven days. Ask an administrator of the workspace
          for a new one.
        </Notice>
        <a href="/console/sign-in">Sign in</a>
      </SignedOutLayout>
    );
  }
  if (invitation.data === undefined) {
    return (
      <SignedOutLayout title="Join Purser">
        {invitation.isError ? (
          <ErrorNotice error={invitation.error} onRetry={() => void invitation.refetch()} />
        ) : (
          <Loading />
        )}
      </SignedOutLayout>
    );
  }
  return <Join token={token} invitation={invitation.data} />;
}

function Join({ token, invitation }: { token: string; invitation: InvitationSummary }) {
  const navigate = useNavigate();
  const [is_refused, setRefused] = useState(false);
  const form = useForm(
    { email: invitation.email, name: '', password: '' },
    async ({ name, password }) => {
      setRefused(false);
      try {
        const me = await auth.accept({ token, name, password });
        queryClient.clear();
        queryClient.setQueryData(meQuery.queryKey, me);
        await navigate({ to: homeOf(me), replace: true });
      } catch (error) {
        if (codeOfError(error) !== 'unauthenticated') throw error;
        setRefused(true);
      }
    },
    { check: (values) => checkAccount(values, false) },
  );
  const { workspace_name, inviter, role, email, expires_at } = invitation;
  const as = `as ${role === 'admin' ? 'an' : 'a'} ${words(role).toLowerCase()}`;
  return (
    <SignedOutLayout
      title={`Join ${visible(workspace_name)}`}
      lead={
        <>
          {inviter === null ? 'You’re invited' : `${visible(inviter)} invites you`} to this Purser workspace{' '}
          {as}. You will sign in as <strong>{email}</strong>. If that e-mail already has an account here,
          enter its password.
        </>
      }
      foot={`The invitation expires ${localTime(expires_at)}.`}
    >
      {is_refused && (
        <Notice tone="bad" title="You could not join.">
          {email} already has an account here, and this is not its password. Or the invitation was used or
          revoked meanwhile: reload the page to see.
        </Notice>
      )}
      <NewAccountFields form={form} with_email={false} action="Join" />
    </SignedOutLayout>
  );
}
