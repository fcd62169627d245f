import { WEBHOOK_EVENT_TYPES } from '@purser/contract/values/webhooks';
import { useState } from 'react';
import { useForm } from '../../lib/hooks/use-form.ts';
import { type EventType, eventWords } from '../../lib/webhooks.ts';
import { Button } from '../Button.tsx';
import { Actions } from '../Dialog.tsx';
import { TextField } from '../Field.tsx';
import { ErrorNotice } from '../Notice.tsx';
import styles from './webhook.module.css';

/**
 * The URL and events of an endpoint. `submit` gets `events` only if the choice changed, so that an endpoint without explicit
 * events stays that way.
 */
export function EndpointForm({
  initial,
  action,
  submit,
  onClose,
}: {
  initial: { url: string; events: readonly EventType[] };
  action: string;
  submit: (values: { url: string; events?: EventType[] }) => Promise<unknown>;
  onClose: () => void;
}) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(initial.events));
  const form = useForm(
    { url: initial.url, events: '' },
    async ({ url }) => {
      const events = WEBHOOK_EVENT_TYPES.filter((type) => chosen.has(type));
      const is_same =
        events.length === initial.events.length && initial.events.every((each) => chosen.has(each));
      await submit({ url: url.trim(), ...(is_same ? {} : { events }) });
    },
    {
      check: ({ url }) => ({
        ...(url.trim() === '' ? { url: 'must be the address to send events to' } : {}),
        ...(chosen.size === 0 ? { events: 'must include at least one event' } : {}),
      }),
    },
  );
  const events_problem = form.problemOf('events');
  return (
    <form onSubmit={form.onSubmit} noValidate className={styles.form}>
      {form.error !== null && <ErrorNotice error={form.error} />}
      <TextField
        label="URL"
        type="url"
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        autoFocus
        required
        placeholder="https://hooks.example.com/purser"
        hint="Must use HTTPS and a public host. Private addresses are refused here and at every delivery. Redirects are not followed."
        {...form.field('url')}
      />
      <fieldset className={styles.events}>
        <legend>Events</legend>
        {WEBHOOK_EVENT_TYPES.map((type) => (
          <label key={type}>
            <input
              type="checkbox"
              checked={chosen.has(type)}
              onChange={({ target }) => {
                const next = new Set(chosen);
                if (target.checked) next.add(type);
                else next.delete(type);
                setChosen(next);
                form.set('events', '');
              }}
            />
            <span>
              {eventWords(type)}
              <code>{type}</code>
            </span>
          </label>
        ))}
        {events_problem !== undefined && (
          <p role="alert" className={styles.problem}>
            {`Events ${events_problem}.`}
          </p>
        )}
      </fieldset>
      <Actions recorded>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" busy={form.busy}>
          {action}
        </Button>
      </Actions>
    </form>
  );
}
