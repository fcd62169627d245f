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

/** Dialog that resends the stored events of a period, in batches. */
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
      // The next batch starts here.
      if (answer.next_from !== null) form.set('from', answer.next_from);
      refetchSoon('webhooks');
    },
  );
  return (
    <Dialog title="Resend a period" onClose={onClose}>
      <form onSubmit={form.onSubmit} noValidate className={styles.form}>
        <p>
          Resends stored events of this endpoint’s types, oldest first, with their original IDs, so that
          receivers can detect duplicates. Events are stored for 30 days.
        </p>
        {form.error !== null && <ErrorNotice error={form.error} />}
        <div role="status">
          {sent !== null && (
            <Notice tone="good">
              {sent.queued === 0
                ? 'No events in this period.'
                : `${sent.queued} ${sent.queued === 1 ? 'event' : 'events'} queued.`}
              {sent.next_from !== null && ' There are more. Select “Resend” again.'}
            </Notice>
          )}
        </div>
        <TextField
          label="From"
          type={form.values.from.includes('T') ? 'text' : 'date'}
          autoFocus
          required
          hint="UTC day."
          {...form.field('from')}
        />
        <TextField
          label="To"
          type="date"
          optional
          hint="Inclusive. Leave empty for now."
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
