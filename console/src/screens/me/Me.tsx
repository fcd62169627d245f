import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { auth } from '../../api/auth.ts';
import { codeOfError, purser } from '../../api/client.ts';
import { meQuery, queryClient, signInOptionsQuery, useMe } from '../../api/queries.ts';
import { Button } from '../../components/Button.tsx';
import { Confirm } from '../../components/Confirm.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { areKeysOn, setKeysOn } from '../../components/keys/use-keys.ts';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { OwnNotifications } from '../../components/notifications/OwnNotifications.tsx';
import { Card, CardGrid, Facts, Page } from '../../components/Page.tsx';
import { Away } from '../../components/reviews/Away.tsx';
import { Id } from '../../components/Value.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { applyTheme, storedTheme, type Theme } from '../../lib/theme.ts';
import { words } from '../../lib/words.ts';
import styles from './Me.module.css';
import { Passkeys, passkeysQuery } from './Passkeys.tsx';
import { Sessions } from './Sessions.tsx';
import { SigningKeys } from './SigningKeys.tsx';
import { Slack } from './Slack.tsx';

export default function Me() {
  const me = useMe();
  const options = useQuery(signInOptionsQuery);
  const signingOut = useAction(async () => {
    await auth.signOut();
    // A full page load clears this person's data from memory.
    location.assign('/console/sign-in');
  });
  return (
    <Page
      title="Your account"
      actions={
        <Button busy={signingOut.busy} onClick={() => void signingOut.run()}>
          Sign out
        </Button>
      }
    >
      {signingOut.error !== null && <ErrorNotice error={signingOut.error} />}
      <CardGrid>
        <Card title="You">
          <NameForm />
          <Facts
            of={[
              ['E-mail', me.user.email],
              ['Role', `${words(me.role)} in ${me.workspace.name}`],
              ['Reviews as', <code key="c">{me.principal_id}</code>],
              ['ID', <Id key="i" id={me.user.id} />],
            ]}
          />
        </Card>
        <Card title="Password">
          {options.data?.password === false ? (
            <p>Passwords are disabled here. Sign in with a passkey or through your identity provider.</p>
          ) : me.has_password ? (
            <>
              <PasswordForm />
              <RemovePassword />
            </>
          ) : (
            <p>
              You have no password. You sign in with a passkey or through your identity provider. The operator
              of this service can give you a link to set one.
            </p>
          )}
        </Card>
        <Card title="This browser">
          <Appearance />
        </Card>
      </CardGrid>
      <OwnNotifications />
      <CardGrid>
        <Away />
        <Slack />
      </CardGrid>
      {options.data?.passkey === true && <Passkeys />}
      {options.data?.passkey === true && <SigningKeys />}
      <Sessions />
    </Page>
  );
}

function NameForm() {
  const me = useMe();
  const form = useForm({ name: me.user.name }, async ({ name }) => {
    queryClient.setQueryData(meQuery.queryKey, await purser.me.update({ name: name.trim() }));
  });
  return (
    <form onSubmit={form.onSubmit} noValidate className={styles.form}>
      {form.error !== null && <ErrorNotice error={form.error} />}
      <div className={styles.row}>
        <TextField label="Name" autoComplete="name" required {...form.field('name')} />
        <Button
          type="submit"
          busy={form.busy}
          disabled={form.values.name.trim() === me.user.name || form.values.name.trim() === ''}
        >
          Save name
        </Button>
      </div>
    </form>
  );
}

function PasswordForm() {
  const me = useMe();
  const [is_done, setDone] = useState(false);
  const [is_wrong, setWrong] = useState(false);
  const form = useForm(
    { current_password: '', new_password: '' },
    async (values) => {
      setDone(false);
      setWrong(false);
      try {
        await auth.changePassword(values);
      } catch (error) {
        if (codeOfError(error) !== 'unauthenticated') throw error;
        setWrong(true);
        return;
      }
      form.set('current_password', '');
      form.set('new_password', '');
      setDone(true);
      void queryClient.invalidateQueries({ queryKey: ['sessions'] });
    },
    {
      check: ({ current_password, new_password }) => ({
        ...(current_password === '' ? { current_password: 'must be your current password' } : {}),
        ...([...new_password.normalize('NFKC')].length < 12
          ? { new_password: 'must have at least 12 characters' }
          : {}),
      }),
    },
  );
  return (
    <form onSubmit={form.onSubmit} noValidate className={styles.form}>
      <input type="hidden" name="username" autoComplete="username" value={me.user.email} readOnly />
      {form.error !== null && <ErrorNotice error={form.error} />}
      <div role="status">
        {is_done && <Notice tone="good">Password changed. Your other sessions have ended.</Notice>}
      </div>
      <TextField
        label="Current password"
        type="password"
        autoComplete="current-password"
        required
        {...form.field('current_password')}
        {...(is_wrong ? { problem: 'wrong password' } : {})}
        onValue={(value) => {
          setWrong(false);
          form.set('current_password', value);
        }}
      />
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        required
        hint="At least 12 characters. A few random words are easy to remember and hard to guess."
        {...form.field('new_password')}
      />
      <div>
        <Button kind="primary" type="submit" busy={form.busy}>
          Change password
        </Button>
      </div>
    </form>
  );
}

/** Lets people with a passkey remove their password. */
function RemovePassword() {
  const options = useQuery(signInOptionsQuery).data;
  const passkeys = useQuery({ ...passkeysQuery, enabled: options?.passkey === true }).data;
  const [is_asking, setAsking] = useState(false);
  if (options?.passkey !== true) return null;
  return (
    <div className={styles.remove}>
      <Button
        small
        kind="danger"
        why={passkeys?.length === 0 && 'This is your only way to sign in. Add a passkey first.'}
        disabled={passkeys === undefined}
        onClick={() => setAsking(true)}
      >
        Remove password
      </Button>
      {is_asking && (
        <Confirm
          title="Remove your password?"
          action="Remove password"
          recorded={false}
          onClose={() => setAsking(false)}
          work={async () => {
            await auth.removePassword();
            await queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
          }}
        >
          <p>
            You can then sign in only with a passkey, and your other sessions end now. If you lose your
            passkeys, the operator of this service can give you a link to set a password again.
          </p>
        </Confirm>
      )}
    </div>
  );
}

const THEMES = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;

function Appearance() {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  const [keys_on, setOn] = useState(areKeysOn);
  return (
    <div className={styles.form}>
      <SelectField
        label="Theme"
        value={theme}
        options={THEMES}
        onValue={(value) => {
          applyTheme(value as Theme);
          setTheme(value as Theme);
        }}
      />
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={keys_on}
          onChange={({ target }) => {
            setKeysOn(target.checked);
            setOn(target.checked);
          }}
        />
        <span>
          Single-key shortcuts
          <span className={styles.soft}>
            For example, “a” for Allow in the inbox. Turn them off if you dictate or press keys by accident.
            Shortcuts with Ctrl stay on.
          </span>
        </span>
      </label>
    </div>
  );
}
