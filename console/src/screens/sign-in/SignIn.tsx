import type { Me } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { auth } from '../../api/auth.ts';
import { codeOfError } from '../../api/client.ts';
import { homeOf, meQuery, queryClient, signInOptionsQuery } from '../../api/queries.ts';
import { announceSignIn } from '../../api/session.ts';
import { Button, buttonClass } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { CodeBlock } from '../../components/Value.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { canPasskeys, requestPasskey, wasCancelled } from '../../lib/passkeys.ts';
import { ForgotPassword } from './ForgotPassword.tsx';
import styles from './SignedOutLayout.module.css';
import { SignedOutLayout } from './SignedOutLayout.tsx';

/** Messages for the error codes of the identity provider's callback. */
const CALLBACK_ERRORS: Record<string, string> = {
  auth_unavailable: 'The identity provider did not answer. Try again in a moment.',
  not_invited: 'That account has no invitation. Ask an administrator for one.',
  email_unverified: 'That account has no verified e-mail address.',
  email_taken: 'That e-mail is already linked to another account of the provider.',
  domain_not_allowed: 'Accounts of that domain cannot sign in here.',
  account_disabled: 'That account is disabled. Ask the operator of this service.',
  sign_in_failed: 'Sign-in with your identity provider failed. Try again.',
};

const RETRY_MS = 3_000;

export default function SignIn() {
  const { error: code, next } = useSearch({ strict: false }) as { error?: string; next?: string };
  const navigate = useNavigate();
  const options = useQuery({
    ...signInOptionsQuery,
    refetchInterval: ({ state }) => (state.error ? RETRY_MS : false),
  });
  const [is_wrong, setWrong] = useState(false);
  const finishSignIn = async (me: Me) => {
    queryClient.clear();
    queryClient.setQueryData(meQuery.queryKey, me);
    announceSignIn();
    await navigate({ href: ownPath(next) ?? homeOf(me), replace: true });
  };
  const passkey = useAction(async () => {
    try {
      await finishSignIn(await auth.signInWithPasskey(await requestPasskey(await auth.passkeyOptions())));
    } catch (error) {
      if (!wasCancelled(error)) throw error;
    }
  });
  const form = useForm({ email: '', password: '' }, async (values) => {
    setWrong(false);
    try {
      await finishSignIn(await auth.signIn(values));
    } catch (error) {
      if (codeOfError(error) !== 'unauthenticated') throw error;
      setWrong(true);
    }
  });
  const is_unavailable = codeOfError(form.error) === 'auth_unavailable';
  const { onSubmit } = form;
  // The service could not verify the sign-in. That is temporary, so the same request is sent again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each such answer
  useEffect(() => {
    if (!is_unavailable) return;
    const timer = setTimeout(() => void onSubmit(), RETRY_MS);
    return () => clearTimeout(timer);
  }, [form.error]);

  if (options.data?.setup === true) {
    return (
      <SignedOutLayout title="Sign in" lead="Nobody has an account here yet.">
        <p>
          Create the first administrator with the link that the service printed when it started. Look for the
          line <strong>Console</strong> in its terminal, or print a new link:
        </p>
        <CodeBlock label="the command" code="npm run -s purser -- user setup-link" />
        <a href="/console/setup" className={buttonClass()}>
          I have a code
        </a>
      </SignedOutLayout>
    );
  }

  const has_passkeys = options.data?.passkey === true && canPasskeys();
  return (
    <SignedOutLayout
      title="Sign in"
      foot={<ForgotPassword options={options.data} email={form.values.email} has_passkeys={has_passkeys} />}
    >
      {options.isError && (
        <Notice tone="warn" title="The service is not responding.">
          Retrying…
        </Notice>
      )}
      {code !== undefined && (
        <Notice tone="bad">{CALLBACK_ERRORS[code] ?? `Sign-in failed (${code}). Try again.`}</Notice>
      )}
      {is_wrong && <Notice tone="bad">Wrong e-mail or password.</Notice>}
      {is_unavailable ? (
        <Notice tone="warn" title="Sign-in could not be verified right now.">
          Retrying…
        </Notice>
      ) : (
        form.error !== null && <ErrorNotice error={form.error} />
      )}
      {passkey.error !== null && <ErrorNotice error={passkey.error} />}
      {options.data?.oidc && (
        <a href="/v1/auth/oidc/start" className={buttonClass()}>
          Continue with {options.data.oidc.name}
        </a>
      )}
      {has_passkeys && (
        <Button busy={passkey.busy} onClick={() => void passkey.run()}>
          Use a passkey
        </Button>
      )}
      {(options.data?.oidc || has_passkeys) && options.data?.password === true && (
        <div className={styles.or}>or</div>
      )}
      {options.data?.password !== false && (
        <form className={styles.form} onSubmit={form.onSubmit}>
          <TextField
            label="E-mail"
            type="email"
            autoComplete="username"
            autoFocus
            required
            {...form.field('email')}
          />
          <TextField
            label="Password"
            type="password"
            autoComplete="current-password"
            required
            {...form.field('password')}
          />
          <Button kind="primary" type="submit" busy={form.busy}>
            Sign in
          </Button>
        </form>
      )}
    </SignedOutLayout>
  );
}

/** The screen that the person wanted before they signed in. Never an address outside the console. */
function ownPath(next: string | undefined): string | undefined {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? next : undefined;
}
