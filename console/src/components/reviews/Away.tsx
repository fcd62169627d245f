import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { meQuery, queryClient, useMay, useMe } from '../../api/queries.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { Author } from '../Author.tsx';
import { Button } from '../Button.tsx';
import { TextField } from '../Field.tsx';
import { ErrorNotice } from '../Notice.tsx';
import styles from '../notifications/notifications.module.css';
import { Card } from '../Page.tsx';
import { Time } from '../Value.tsx';

const refresh = () => queryClient.invalidateQueries({ queryKey: meQuery.queryKey });

/** Lends the person's place in reviews to a colleague while they are away. */
export function Away() {
  const me = useMe();
  const may = useMay('review');
  const ending = useAction(async () => {
    await purser.me.endAway();
    await refresh();
  });
  if (!may) return null;
  return (
    <Card title="Away">
      {me.away == null ? (
        <AwayForm />
      ) : (
        <>
          <p>
            Until <Time at={me.away.until} exact />, <Author principal_id={me.away.delegate} key_id={null} />{' '}
            may use your place in reviews.
          </p>
          <div>
            <Button small busy={ending.busy} onClick={() => void ending.run()}>
              I am back
            </Button>
          </div>
          {ending.error !== null && <ErrorNotice error={ending.error} />}
        </>
      )}
    </Card>
  );
}

function AwayForm() {
  const [zone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const form = useForm(
    { until: '', delegate: '' },
    async ({ until, delegate }) => {
      await purser.me.setAway({ until: new Date(until).toISOString(), delegate: delegate.trim() });
      await refresh();
    },
    {
      check: ({ until, delegate }) => ({
        ...(Number.isNaN(Date.parse(until)) ? { until: 'must be a date and time' } : {}),
        ...(delegate.trim() === '' ? { delegate: 'must be another member who may review' } : {}),
      }),
    },
  );
  return (
    <form onSubmit={form.onSubmit} noValidate className={styles.form}>
      <p>A colleague can use your place among the approvers while you are away, for at most 60 days.</p>
      {form.error !== null && <ErrorNotice error={form.error} />}
      <TextField label="Until" type="datetime-local" required hint={zone} {...form.field('until')} />
      <TextField
        label="Delegate"
        required
        autoComplete="off"
        spellCheck={false}
        placeholder="user:ada"
        hint="The principal of a member who may review."
        {...form.field('delegate')}
      />
      <div>
        <Button type="submit" busy={form.busy}>
          Lend my place
        </Button>
      </div>
    </form>
  );
}
