import type { NewInvitation } from '@purser/sdk';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { CopyButton, Time } from '../../components/Value.tsx';
import { useForm } from '../../lib/hooks/use-form.ts';
import { words } from '../../lib/words.ts';
import { ROLES } from './roles.ts';
import styles from './Team.module.css';

/** Dialog that creates an invitation, and shows its link once unless it is mailed. */
export function Invite({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<NewInvitation | null>(null);
  const form = useForm(
    { email: '', role: 'reviewer', principal_id: '' },
    async ({ email, role, principal_id }) => {
      setMade(
        await purser.invitations.create({
          email: email.trim(),
          role: role as NewInvitation['role'],
          ...(principal_id.trim() === '' ? {} : { principal_id: principal_id.trim() }),
        }),
      );
      void invalidate('team');
    },
    {
      check: (values) =>
        /^\S+@\S+$/.test(values.email.trim()) ? {} : { email: 'must be an e-mail address' },
    },
  );
  if (made !== null) {
    return (
      <Dialog title={`Invitation for ${made.email}`} onClose={onClose}>
        {made.url === null ? (
          <Notice title={`The link is on its way to ${made.email}.`}>
            Nobody else can see it. Its owner joins as {words(made.role).toLowerCase()}.
          </Notice>
        ) : (
          <>
            <Notice tone="warn" title="Copy this link now and send it yourself.">
              Purser has no mail server and cannot show the link again. The first person to open it joins as{' '}
              {words(made.role).toLowerCase()}.
            </Notice>
            <div className={styles.link}>
              <TextField
                label="Invitation link"
                readOnly
                value={made.url}
                onFocus={(event) => event.target.select()}
                onValue={() => {}}
              />
              <CopyButton text={made.url} label="Copy link" />
            </div>
          </>
        )}
        <p>
          It works once and expires <Time at={made.expires_at} exact />.
        </p>
        <Actions>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </Actions>
      </Dialog>
    );
  }
  return (
    <Dialog title="Invite" onClose={onClose}>
      <form onSubmit={form.onSubmit} noValidate className={styles.form}>
        {form.error !== null && <ErrorNotice error={form.error} />}
        <TextField
          label="E-mail"
          type="email"
          autoComplete="off"
          autoFocus
          required
          {...form.field('email')}
        />
        <SelectField
          label="Role"
          {...form.field('role')}
          hint={ROLES.find(({ role }) => role === form.values.role)?.hint}
          options={ROLES.map(({ role }) => [role, words(role)])}
        />
        <TextField
          label="Reviews as"
          optional
          autoComplete="off"
          spellCheck={false}
          placeholder="user:ada"
          hint="If this person already has keys, enter their principal. They then cannot review requests of those keys."
          {...form.field('principal_id')}
        />
        <Actions recorded>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.busy}>
            Create invite link
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
