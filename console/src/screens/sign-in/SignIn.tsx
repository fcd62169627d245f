import type { Me } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { codeOfError } from '../../api/client.ts';
import { door } from '../../api/door.ts';
import { meQuery, queryClient, signInOptionsQuery } from '../../api/queries.ts';
import { tellSignIn } from '../../api/session.ts';
import { Button, buttonClass } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { CodeBlock } from '../../components/Value.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { askForPasskey, canPasskeys, wasCancelled } from '../../lib/passkeys.ts';
import styles from './Entrance.module.css';
import { Entrance } from './Entrance.tsx';

/** What the identity provider's way back may say, in words. */
const CALLBACK_ERRORS: Record<string, string> = {
  auth_unavailable: 'The identity provider did not answer. Try again in a moment.',
  not_invited: 'That account is not invited here. Ask an administrator for an invitation.',
  email_unverified: 'That account has no verified e-mail, so it cannot be told whose it is.',
  email_taken: 'Another account of the provider is linked with that e-mail.',
  domain_not_allowed: 'Accounts of that domain are not let in.',
  account_disabled: 'That account is disabled. Ask whoever runs the service.',
  sign_in_failed: 'The answer of the identity provider was not good. Begin anew.',
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
  const comeIn = async (me: Me) => {
    queryClient.clear();
    queryClient.setQueryData(meQuery.queryKey, me);
    tellSignIn();
    await navigate({ href: ownPath(next), replace: true });
  };
  const passkey = useAction(async () => {
    try {
      await comeIn(await door.signInWithPasskey(await askForPasskey(await door.askPasskey())));
    } catch (error) {
      if (!wasCancelled(error)) throw error;
    }
  });
  const form = useForm({ email: '', password: '' }, async (values) => {
    setWrong(false);
    try {
      await comeIn(await door.signIn(values));
    } catch (error) {
      if (codeOfError(error) !== 'unauthenticated') throw error;
      setWrong(true);
    }
  });
  const is_unavailable = codeOfError(form.error) === 'auth_unavailable';
  const { onSubmit } = form;
  // Whether somebody may come in could not be told: that mends itself, so the same is asked again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each such answer
  useEffect(() => {
    if (!is_unavailable) return;
    const timer = setTimeout(() => void onSubmit(), RETRY_MS);
    return () => clearTimeout(timer);
  }, [form.error]);

  if (options.data?.setup === true) {
    return (
      <Entrance title="Sign in" lead="Nobody has an account here yet.">
        <p>
          The first administrator is made with the address that the service printed when it started. Look for
          the line <strong>Console</strong> in its terminal, or print a new one:
        </p>
        <CodeBlock label="the command" code="npm run -s purser -- user setup-link" />
        <a href="/console/setup" className={buttonClass()}>
          I have a code
        </a>
      </Entrance>
    );
  }

  const has_passkeys = options.data?.passkey === true && canPasskeys();
  return (
    <Entrance
      title="Sign in"
      foot={
        <details>
          <summary>Forgot your password?</summary>
          <div>
            <p>
              Ask whoever runs the service: this prints a link that sets a new one.
              {(has_passkeys || options.data?.oidc) && ' Or come in by another way above.'}
            </p>
            <CodeBlock
              label="the command"
              code="npm run -s purser -- user reset-link --email you@example.com"
            />
          </div>
        </details>
      }
    >
      {options.isError && (
        <Notice tone="warn" title="The service does not answer.">
          Trying again by itself.
        </Notice>
      )}
      {code !== undefined && (
        <Notice tone="bad">{CALLBACK_ERRORS[code] ?? `Signing in did not work (${code}). Try again.`}</Notice>
      )}
      {is_wrong && <Notice tone="bad">E-mail or password is wrong.</Notice>}
      {is_unavailable ? (
        <Notice tone="warn" title="Sign-in could not be verified right now.">
          Trying again by itself.
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
    </Entrance>
  );
}

/** Where to go on after signing in: a screen of this console, and never another address. */
function ownPath(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? next : '/';
}
