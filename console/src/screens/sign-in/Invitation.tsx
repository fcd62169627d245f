import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { auth } from '../../api/auth.ts';
import { codeOfError } from '../../api/client.ts';
import { meQuery, queryClient } from '../../api/queries.ts';
import { Notice } from '../../components/Notice.tsx';
import { useForm } from '../../lib/hooks/use-form.ts';
import { checkAccount, NewAccountFields } from './NewAccount.tsx';
import { SignedOutLayout } from './SignedOutLayout.tsx';

export default function Invitation() {
  const navigate = useNavigate();
  const [token] = useState(() => decodeURIComponent(location.hash.slice(1)));
  const [is_refused, setRefused] = useState(token === '');
  const form = useForm(
    { email: '', name: '', password: '' },
    async ({ name, password }) => {
      setRefused(false);
      try {
        const me = await auth.accept({ token, name, password });
        queryClient.clear();
        queryClient.setQueryData(meQuery.queryKey, me);
        await navigate({ to: '/', replace: true });
      } catch (error) {
        if (codeOfError(error) !== 'unauthenticated') throw error;
        setRefused(true);
      }
    },
    { check: (values) => checkAccount(values, false) },
  );
  return (
    <SignedOutLayout
      title="Join Purser"
      lead="You’ve been invited. If your e-mail already has an account here, use that account’s password."
    >
      {is_refused && (
        <Notice tone="bad" title="This invitation doesn’t work.">
          It was used, revoked or has expired (links last seven days), or the password is not your account’s.
          Ask for a new link.
        </Notice>
      )}
      {token !== '' && <NewAccountFields form={form} with_email={false} action="Join" />}
    </SignedOutLayout>
  );
}
