import type { Me } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { type MouseEvent, useEffect, useState } from 'react';
import { auth } from '../../api/auth.ts';
import { codeOfError, purser, QUIET } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { meQuery, queryClient, signInOptionsQuery, useMe } from '../../api/queries.ts';
import { type Demand, onSignIn, rejectDemand, resolveDemand, useDemand } from '../../api/session.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { canPasskeys, requestPasskey, wasCancelled } from '../../lib/passkeys.ts';
import { Button, buttonClass } from '../Button.tsx';
import { Actions, Dialog } from '../Dialog.tsx';
import { TextField } from '../Field.tsx';
import { ErrorNotice, Notice } from '../Notice.tsx';

const GAP = { display: 'grid', gap: '0.9rem', gridTemplateColumns: 'minmax(0, 1fr)' } as const;

/** Dialog over any screen: asks the person to sign in again or to prove their identity, then continues their work. */
export function Reauthentication() {
  const demand = useDemand();
  return demand === null ? null : <Ask key={demand} demand={demand} />;
}

/** Offers every way to sign in that the service has. Nothing on the page is lost. */
function Ask({ demand }: { demand: Demand }) {
  const me = useMe();
  const options = useQuery(signInOptionsQuery).data;
  const is_proof = demand === 'proof';
  const [is_wrong, setWrong] = useState(false);
  const [other, setOther] = useState<Me | null>(null);

  /** Continues if the person who signed in owns this page. */
  async function resume(now: Me): Promise<void> {
    if (now.user.id !== me.user.id) return setOther(now);
    // A request of this page must not go to another workspace.
    if (now.workspace?.id !== me.workspace.id) {
      const is_open = now.workspaces.some((each) => each.id === me.workspace.id && each.status === 'active');
      if (!is_open) return location.assign('/console/');
      now = await purser.me.switchWorkspace({ workspace_id: me.workspace.id });
    }
    queryClient.setQueryData(meQuery.queryKey, now);
    resolveDemand(demand);
    void invalidate();
  }

  // The person may sign in in another window.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the listeners stay the same
  useEffect(() => {
    const look = async () => {
      const now = await purser.me.retrieve(QUIET);
      // The earlier session is not a fresh proof.
      if (!is_proof || now.session.id !== me.session.id) await resume(now);
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
      if (!is_proof) return await resume(await auth.signIn({ email: me.user.email, password }));
      await auth.reauthenticate({ password });
    } catch (error) {
      if (codeOfError(error) !== 'unauthenticated') throw error;
      return setWrong(true);
    }
    resolveDemand('proof');
  });
  const passkey = useAction(async () => {
    try {
      const answer = await requestPasskey(await auth.passkeyOptions());
      if (!is_proof) return await resume(await auth.signInWithPasskey(answer));
      await auth.reauthenticate({ passkey: answer });
    } catch (error) {
      if (wasCancelled(error)) return;
      throw error;
    }
    resolveDemand('proof');
  });

  const leave = () => {
    rejectDemand(
      demand,
      is_proof
        ? 'Nothing was changed: your identity was not confirmed.'
        : 'You are signed out. Sign in and try again.',
    );
    if (!is_proof) location.assign(other === null ? '/console/sign-in' : '/console/');
    // Somebody else is signed in now: this page is not theirs.
    else if (other !== null) location.assign('/console/');
  };
  const has_passkeys = options?.passkey === true && canPasskeys();
  // People without a password are not asked for one. After a session ended, the page cannot know.
  const has_password = options?.password !== false && (!is_proof || me.has_password);
  return (
    <Dialog title={is_proof ? 'Confirm that it’s you' : 'Sign in again'} onClose={leave}>
      <p>
        {is_proof
          ? 'This change is sensitive, and you last signed in a while ago.'
          : 'Your session ended. Your work is still here and continues after you sign in.'}
      </p>
      <form onSubmit={form.onSubmit} style={GAP}>
        {is_wrong && <Notice tone="bad">Wrong password.</Notice>}
        {other !== null && (
          <Notice tone="bad" title={`${other.user.email} signed in.`}>
            This page belongs to {me.user.email}. Only they can continue here.
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

/** Opens a small window beside the waiting page. If the browser blocks it, the link opens a tab. */
function openBeside(event: MouseEvent<HTMLAnchorElement>): void {
  if (window.open(event.currentTarget.href, '_blank', 'popup,width=520,height=700') !== null) {
    event.preventDefault();
  }
}
