import type { SignInOptions } from '@purser/sdk';
import { useState } from 'react';
import { auth } from '../../api/auth.ts';
import { Button } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { CodeBlock } from '../../components/Value.tsx';
import { useForm } from '../../lib/hooks/use-form.ts';
import styles from './SignedOutLayout.module.css';

/** Mails a password link, or without a mail server says who makes one. `email` is what the sign-in form has. */
export function ForgotPassword({
  options,
  email,
  has_passkeys,
}: {
  options: SignInOptions | undefined;
  email: string;
  has_passkeys: boolean;
}) {
  const has_others = has_passkeys || options?.oidc;
  return (
    <details>
      <summary>Forgot password?</summary>
      {options?.mail === true && options.password ? (
        <MailedLink key={email} email={email} />
      ) : (
        <div>
          <p>
            Ask an administrator. The operator of this service runs this command, which prints a link to set a
            new password.
            {has_others && ' Or sign in another way above.'}
          </p>
          <CodeBlock
            label="the command"
            code="npm run -s purser -- user reset-link --email you@example.com"
          />
        </div>
      )}
    </details>
  );
}

function MailedLink({ email }: { email: string }) {
  const [sent_to, setSentTo] = useState<string | null>(null);
  const form = useForm(
    { email },
    async (values) => {
      setSentTo(null);
      await auth.forgot({ email: values.email.trim() });
      setSentTo(values.email.trim());
    },
    {
      check: (values) =>
        /^\S+@\S+$/.test(values.email.trim()) ? {} : { email: 'must be an e-mail address' },
    },
  );
  return (
    <form className={styles.form} onSubmit={form.onSubmit} noValidate>
      <TextField
        label="E-mail of your account"
        type="email"
        autoComplete="username"
        {...form.field('email')}
      />
      <Button type="submit" busy={form.busy}>
        Mail me a link
      </Button>
      {form.error !== null && <ErrorNotice error={form.error} />}
      {sent_to !== null && (
        <Notice title="Check your mailbox.">
          If {sent_to} belongs to an account with a password, a link to set a new one is on its way. It
          expires in 24 hours.
        </Notice>
      )}
    </form>
  );
}
