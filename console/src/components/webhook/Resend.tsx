import type { WebhookAttempt } from '@purser/sdk';
import { purser } from '../../api/client.ts';
import { refetchSoon } from '../../api/refetch-soon.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { Button } from '../Button.tsx';
import { ErrorNotice } from '../Notice.tsx';

/** Sends an event to the endpoint again. Test events are not stored, so they have no such button. */
export function Resend({ attempt, small = false }: { attempt: WebhookAttempt; small?: boolean }) {
  const sending = useAction(async () => {
    await purser.webhookDeliveries.replay(attempt.endpoint_id, { event_id: attempt.event_id });
    refetchSoon('webhooks', 'deliveries');
  });
  if (attempt.event_type === 'webhook.test') return null;
  return (
    <>
      <Button small={small} busy={sending.busy} onClick={() => void sending.run()}>
        Resend
      </Button>
      {sending.error !== null && <ErrorNotice error={sending.error} />}
    </>
  );
}
