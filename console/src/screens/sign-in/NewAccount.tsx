import type { ReactNode } from 'react';
import { Button } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import type { Form } from '../../lib/hooks/use-form.ts';
import styles from './SignedOutLayout.module.css';

/** The fields of a new account. The server’s verdict on the password appears beside it. */
export function NewAccountFields({
  form,
  with_email,
  action,
  children,
}: {
  form: Form<{ email: string; name: string; password: string }>;
  with_email: boolean;
  action: string;
  children?: ReactNode;
}) {
  return (
    <form className={styles.form} onSubmit={form.onSubmit} noValidate>
      {form.error !== null && <ErrorNotice error={form.error} />}
      {children}
      {with_email && (
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username"
          autoFocus
          required
          {...form.field('email')}
        />
      )}
      <TextField label="Name" autoComplete="name" autoFocus={!with_email} required {...form.field('name')} />
      <TextField
        label="Password"
        type="password"
        autoComplete="new-password"
        required
        hint="At least 12 characters. A few random words are easy to remember and hard to guess."
        {...form.field('password')}
      />
      <Button kind="primary" type="submit" busy={form.busy}>
        {action}
      </Button>
    </form>
  );
}

/** Problems that can be found without the service. */
export function checkAccount(values: { email: string; name: string; password: string }, with_email: boolean) {
  const problems: Partial<Record<'email' | 'name' | 'password', string>> = {};
  if (with_email && !/^\S+@\S+$/.test(values.email.trim())) problems.email = 'must be an e-mail address';
  if (values.name.trim() === '') problems.name = 'must not be empty';
  if ([...values.password.normalize('NFKC')].length < 12)
    problems.password = 'must have at least 12 characters';
  return problems;
}
