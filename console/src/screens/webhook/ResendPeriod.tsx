import type { WebhookItem, WebhookReplay } from '@purser/sdk';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { refetchSoon } from '../../api/refetch-soon.ts';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import styles from '../../components/webhook/webhook.module.css';
import { useForm } from '../../lib/hooks/use-form.ts';
import { utcDay } from '../../lib/time.ts';

/** Sends the kept events of some days again, as much as goes at a time. */
export function ResendPeriod({ endpoint, onClose }: { endpoint: WebhookItem; onClose: () => void }) {
  const [sent, setSent] = useState<WebhookReplay | null>(null);
  const form = useForm(
    { from: endpoint.failing_since?.slice(0, 10) ?? utcDay(Date.now()), to: '', event_id: '' },
    async ({ from, to }) => {
      const answer = await purser.webhookDeliveries.replay(endpoint.id, {
        from,
        ...(to === '' ? {} : { to }),
      });
      setSent(answer);
      // What did not go at a time goes on from there.
      if (answer.next_from !== null) form.set('from', answer.next_from);
      refetchSoon('webhooks');
    },
  );
  return (
    <Dialog title="Resend a period" onClose={onClose}>
      <form onSubmit={form.onSubmit} noValidate className={styles.form}>
        <p>
          Kept events of the types that this endpoint takes are sent again, oldest first, under the ids that
          they had: a receiver that looks at the ids takes none of them twice. Events are kept for 30 days.
        </p>
        {form.error !== null && <ErrorNotice error={form.error} />}
        <div role="status">
          {sent !== null && (
            <Notice tone="good">
              {sent.queued === 0
                ? 'There is no event in this period.'
                : `${sent.queued} ${sent.queued === 1 ? 'event is' : 'events are'} on the way.`}
              {sent.next_from !== null && ' There are more: press “Resend” again.'}
            </Notice>
          )}
        </div>
        <TextField
          label="From"
          type={form.values.from.includes('T') ? 'text' : 'date'}
          autoFocus
          required
          hint="The UTC day."
          {...form.field('from')}
        />
        <TextField
          label="To"
          type="date"
          optional
          hint="This day included; without it, until now."
          {...form.field('to')}
        />
        <Actions>
          <Button onClick={onClose}>{sent === null ? 'Cancel' : 'Done'}</Button>
          <Button kind="primary" type="submit" busy={form.busy}>
            Resend
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
