import type { Me } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { type MouseEvent, useEffect, useState } from 'react';
import { codeOfError, purser, QUIET } from '../../api/client.ts';
import { door } from '../../api/door.ts';
import { makeOld } from '../../api/live.ts';
import { meQuery, queryClient, signInOptionsQuery, useMe } from '../../api/queries.ts';
import { type Demand, declined, met, onSignIn, useDemand } from '../../api/session.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { askForPasskey, canPasskeys, wasCancelled } from '../../lib/passkeys.ts';
import { Button, buttonClass } from '../Button.tsx';
import { Actions, Dialog } from '../Dialog.tsx';
import { TextField } from '../Field.tsx';
import { ErrorNotice, Notice } from '../Notice.tsx';

const GAP = { display: 'grid', gap: '0.9rem', gridTemplateColumns: 'minmax(0, 1fr)' } as const;

/** Asks to sign in again, or to prove who one is, over whatever was being done; that then goes on. */
export function Reauthentication() {
  const demand = useDemand();
  return demand === null ? null : <Ask key={demand} demand={demand} />;
}

/** Every way in that the service has: nobody is left without theirs, and nothing on the page is lost. */
function Ask({ demand }: { demand: Demand }) {
  const me = useMe();
  const options = useQuery(signInOptionsQuery).data;
  const is_proof = demand === 'proof';
  const [is_wrong, setWrong] = useState(false);
  const [other, setOther] = useState<Me | null>(null);

  /** Goes on as whoever is signed in now, if that is the person whose page this is. */
  async function goOn(now: Me): Promise<void> {
    if (now.user.id !== me.user.id) return setOther(now);
    // Another workspace's page must not be sent into this one.
    if (now.workspace?.id !== me.workspace.id) {
      const is_open = now.workspaces.some((each) => each.id === me.workspace.id && each.status === 'active');
      if (!is_open) return location.assign('/console/');
      now = await purser.me.switchWorkspace({ workspace_id: me.workspace.id });
    }
    queryClient.setQueryData(meQuery.queryKey, now);
    met(demand);
    void makeOld();
  }

  // Somebody may sign in in another window: the one that was opened from here, or any other.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is listened to stays the same
  useEffect(() => {
    const look = async () => {
      const now = await purser.me.retrieve(QUIET);
      // The session that was there before is no fresh proof.
      if (!is_proof || now.session.id !== me.session.id) await goOn(now);
    };
    const onFocus = () => void look().catch(() => {});
    const stop = onSignIn(onFocus);
    window.addEventListener('focus', onFocus);
    return () => {
      stop();
      window.removeEventListener('focus', onFocus);
    };
  }, []);

  const form = useForm({ password: '' }, async ({ password }) => {
    setWrong(false);
    try {
      if (!is_proof) return await goOn(await door.signIn({ email: me.user.email, password }));
      await door.reauthenticate({ password });
    } catch (error) {
      if (codeOfError(error) !== 'unauthenticated') throw error;
      return setWrong(true);
    }
    met('proof');
  });
  const passkey = useAction(async () => {
    try {
      const answer = await askForPasskey(await door.askPasskey());
      if (!is_proof) return await goOn(await door.signInWithPasskey(answer));
      await door.reauthenticate({ passkey: answer });
    } catch (error) {
      if (wasCancelled(error)) return;
      throw error;
    }
    met('proof');
  });

  const leave = () => {
    declined(
      demand,
      is_proof
        ? 'It was not done: it has to be confirmed that it is you.'
        : 'You are signed out. Sign in and try again.',
    );
    if (!is_proof) location.assign(other === null ? '/console/sign-in' : '/console/');
    // Whoever is signed in now is somebody else: nothing of this page is theirs.
    else if (other !== null) location.assign('/console/');
  };
  const has_passkeys = options?.passkey === true && canPasskeys();
  // Who has no password is not asked for one. After a session ended it is not known whether they have one by now.
  const has_password = options?.password !== false && (!is_proof || me.has_password);
  return (
    <Dialog title={is_proof ? 'Confirm that it is you' : 'Sign in again'} onClose={leave}>
      <p>
        {is_proof
          ? 'This changes what others may do, and your last sign-in is a while ago.'
          : 'Your session ended. What you were doing is still here and goes on when you have signed in.'}
      </p>
      <form onSubmit={form.onSubmit} style={GAP}>
        {is_wrong && <Notice tone="bad">That is not your password.</Notice>}
        {other !== null && (
          <Notice tone="bad" title={`${other.user.email} signed in.`}>
            This page is that of {me.user.email}: only they can go on with it.
          </Notice>
        )}
        {form.error !== null && <ErrorNotice error={form.error} />}
        {passkey.error !== null && <ErrorNotice error={passkey.error} />}
        <TextField label="E-mail" value={me.user.email} readOnly autoComplete="username" onValue={() => {}} />
        {options?.oidc && (
          <a
            href={`/v1/auth/oidc/start?again=${is_proof ? 'proof' : 'session'}`}
            target="_blank"
            rel="noreferrer"
            className={buttonClass()}
            onClick={openBeside}
          >
            Continue with {options.oidc.name}
          </a>
        )}
        {has_passkeys && (
          <Button busy={passkey.busy} onClick={() => void passkey.run()}>
            Use a passkey
          </Button>
        )}
        {has_password && (
          <TextField
            label="Password"
            type="password"
            autoComplete="current-password"
            autoFocus
            required
            {...form.field('password')}
          />
        )}
        <Actions>
          <Button onClick={leave}>{is_proof ? 'Cancel' : 'Use another account'}</Button>
          {has_password && (
            <Button kind="primary" type="submit" busy={form.busy}>
              {is_proof ? 'Confirm' : 'Sign in'}
            </Button>
          )}
        </Actions>
      </form>
    </Dialog>
  );
}

/** A small window, so that it is seen where the page is that waits; where none may be opened, the link opens a tab. */
function openBeside(event: MouseEvent<HTMLAnchorElement>): void {
  if (window.open(event.currentTarget.href, '_blank', 'popup,width=520,height=700') !== null) {
    event.preventDefault();
  }
}
