import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { codeOfError, purser } from '../api/client.ts';
import { door } from '../api/door.ts';
import { makeOld } from '../api/live.ts';
import { meQuery, queryClient, signInOptionsQuery, useMe } from '../api/queries.ts';
import { declined, met, useDemand } from '../api/session.ts';
import { askForPasskey, canPasskeys, wasCancelled } from '../lib/passkeys.ts';
import { useAction } from '../lib/use-action.ts';
import { useForm } from '../lib/use-form.ts';
import { Button } from './Button.tsx';
import { Actions, Dialog } from './Dialog.tsx';
import { TextField } from './Field.tsx';
import { ErrorNotice, Notice } from './Notice.tsx';

/** Asks to sign in again, or to prove who one is, over whatever was being done; that then goes on. */
export function Reauthentication() {
  const demand = useDemand();
  if (demand === null) return null;
  return demand === 'sign-in' ? <SignInAgain /> : <Prove />;
}

function SignInAgain() {
  const me = useMe();
  const options = useQuery(signInOptionsQuery);
  const form = useForm({ password: '' }, async ({ password }) => {
    const now = await door.signIn({ email: me.user.email, password });
    queryClient.setQueryData(meQuery.queryKey, now);
    // Another workspace's page must not be sent into this one.
    if (now.workspace.id !== me.workspace.id) {
      if (me.workspaces.some((each) => each.id === me.workspace.id))
        await purser.me.switchWorkspace({ workspace_id: me.workspace.id });
      else location.assign('/console/');
    }
    met('sign-in');
    void makeOld();
  });
  const leave = () => {
    declined('sign-in', 'You are signed out. Sign in and try again.');
    location.assign('/console/sign-in');
  };
  return (
    <Dialog title="Sign in again" onClose={leave}>
      <p>Your session ended. What you were doing is still here and goes on when you have signed in.</p>
      <form onSubmit={form.onSubmit} style={{ display: 'grid', gap: '0.9rem' }}>
        {form.error !== null && <ErrorNotice error={form.error} />}
        <TextField label="E-mail" value={me.user.email} readOnly autoComplete="username" onValue={() => {}} />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          autoFocus
          required
          {...form.field('password')}
        />
        <Actions>
          {options.data?.oidc && (
            <a href="/v1/auth/oidc/start" style={{ marginRight: 'auto', alignSelf: 'center' }}>
              Continue with {options.data.oidc.name}
            </a>
          )}
          <Button onClick={leave}>Use another account</Button>
          <Button kind="primary" type="submit" busy={form.busy}>
            Sign in
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}

function Prove() {
  const [is_wrong, setWrong] = useState(false);
  const form = useForm({ password: '' }, async ({ password }) => {
    setWrong(false);
    try {
      await door.reauthenticate({ password });
    } catch (error) {
      if (codeOfError(error) !== 'unauthenticated') throw error;
      setWrong(true);
      return;
    }
    met('proof');
  });
  const options = useQuery(signInOptionsQuery);
  const passkey = useAction(async () => {
    try {
      await door.reauthenticate({ passkey: await askForPasskey(await door.askPasskey()) });
    } catch (error) {
      if (wasCancelled(error)) return;
      throw error;
    }
    met('proof');
  });
  const leave = () => declined('proof', 'It was not done: your password is needed for it.');
  return (
    <Dialog title="Confirm that it is you" onClose={leave}>
      <p>
        This changes what others may do. Your last sign-in is a while ago, so enter your password once more.
      </p>
      <form onSubmit={form.onSubmit} style={{ display: 'grid', gap: '0.9rem' }}>
        {is_wrong && <Notice tone="bad">That is not your password.</Notice>}
        {form.error !== null && <ErrorNotice error={form.error} />}
        {passkey.error !== null && <ErrorNotice error={passkey.error} />}
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          autoFocus
          required
          {...form.field('password')}
        />
        <Actions>
          {options.data?.passkey === true && canPasskeys() && (
            <Button busy={passkey.busy} onClick={() => void passkey.run()}>
              Use a passkey
            </Button>
          )}
          <Button onClick={leave}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.busy}>
            Confirm
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
