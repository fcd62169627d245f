import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { auth } from '../../api/auth.ts';
import { codeOfError } from '../../api/client.ts';
import { homeOf, meQuery, queryClient } from '../../api/queries.ts';
import { Button } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { useForm } from '../../lib/hooks/use-form.ts';
import styles from './SignedOutLayout.module.css';
import { SignedOutLayout } from './SignedOutLayout.tsx';

/** Target of a password link: sets a new password. */
export default function Reset() {
  const navigate = useNavigate();
  const [token] = useState(() => decodeURIComponent(location.hash.slice(1)));
  const [is_refused, setRefused] = useState(token === '');
  const form = useForm(
    { password: '' },
    async ({ password }) => {
      setRefused(false);
      try {
        const me = await auth.reset({ token, password });
        queryClient.clear();
        queryClient.setQueryData(meQuery.queryKey, me);
        await navigate({ to: homeOf(me), replace: true });
      } catch (error) {
        if (codeOfError(error) !== 'unauthenticated') throw error;
        setRefused(true);
      }
    },
    {
      check: ({ password }) =>
        [...password.normalize('NFKC')].length < 12 ? { password: 'must have at least 12 characters' } : {},
    },
  );
  return (
    <SignedOutLayout title="New password" lead="Setting it ends your other sessions.">
      {is_refused && (
        <Notice tone="bad" title="This link doesn’t work.">
          It was used or has expired (links last one day). Ask for a new one under “Forgot password?” on the
          sign-in page.
        </Notice>
      )}
      {form.error !== null && <ErrorNotice error={form.error} />}
      {token !== '' && (
        <form className={styles.form} onSubmit={form.onSubmit} noValidate>
          <TextField
            label="Password"
            type="password"
            autoComplete="new-password"
            autoFocus
            required
            hint="At least 12 characters. A few random words are easy to remember and hard to guess."
            {...form.field('password')}
          />
          <Button kind="primary" type="submit" busy={form.busy}>
            Set password
          </Button>
        </form>
      )}
    </SignedOutLayout>
  );
}
