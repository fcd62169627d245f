import type { SentWebhookAttempt, WebhookItem } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { useEndpoints } from '../../api/endpoints.ts';
import { useMay } from '../../api/queries.ts';
import { AdminOnly } from '../../components/AdminOnly.tsx';
import { StateBadge } from '../../components/Badge.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Facts, Loading, Page } from '../../components/Page.tsx';
import { CodeBlock, Id, Time } from '../../components/Value.tsx';
import { Deliveries } from '../../components/webhook/Deliveries.tsx';
import { EventBody } from '../../components/webhook/EventBody.tsx';
import { Resend } from '../../components/webhook/Resend.tsx';
import styles from '../../components/webhook/webhook.module.css';
import { resultOf } from '../../lib/webhooks.ts';

/** One attempt to deliver: what was sent and where, what came back, and what follows. */
export default function AttemptPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const may = useMay('admin');
  const query = useQuery({
    queryKey: ['webhooks', 'deliveries', 'one', id],
    queryFn: async () => purser.webhookDeliveries.retrieve(id),
    enabled: may,
  });
  const endpoints = useEndpoints({ enabled: may });
  const attempt = query.data;
  const endpoint = endpoints.data?.find((each) => each.id === attempt?.endpoint_id);
  return (
    <Page
      title={attempt === undefined ? 'Attempt' : `Attempt ${attempt.attempt}`}
      above={
        endpoint === undefined ? (
          <Link to="/webhooks">Webhooks</Link>
        ) : (
          <Link to={`/webhooks/${endpoint.id}`}>{new URL(endpoint.url).host}</Link>
        )
      }
      badges={attempt !== undefined && <StateBadge state={attempt.status} />}
      actions={attempt !== undefined && endpoint !== undefined && <Resend attempt={attempt} />}
    >
      <AdminOnly what="webhooks">
        {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
        {query.isPending && <Loading lines={8} />}
        {attempt !== undefined && (
          <>
            <About attempt={attempt} endpoint={endpoint} is_known={endpoints.isSuccess} />
            <Headers attempt={attempt} />
            <EventBody id={attempt.event_id} />
            <Deliveries
              search={{}}
              to={`/webhooks/attempts/${id}`}
              fixed={{ event: attempt.event_id }}
              endpoints={new Map(endpoints.data?.map((each) => [each.id, each.url]))}
            />
          </>
        )}
      </AdminOnly>
    </Page>
  );
}

function About({
  attempt,
  endpoint,
  is_known,
}: {
  attempt: SentWebhookAttempt;
  endpoint: WebhookItem | undefined;
  /** Whether the endpoints that there are were told. */
  is_known: boolean;
}) {
  const { event_id, event_type, attempted_at, next_attempt_at, http_status } = attempt;
  return (
    <Card>
      <Facts
        of={[
          [
            'Event',
            <Link key="e" to={`/webhooks/events/${event_id}`}>
              {event_type}
            </Link>,
          ],
          [
            'Sent to',
            endpoint === undefined ? (
              is_known && 'An endpoint that was deleted since'
            ) : (
              <span key="u" className={styles.url}>
                {endpoint.url}
                {endpoint.updated_at > attempted_at && ' (as it is now: the endpoint was changed since)'}
              </span>
            ),
          ],
          ['Sent', <Time key="t" at={attempted_at} exact />],
          ['Answered', http_status === null ? 'Nothing' : `Status ${http_status}`],
          attempt.error === null ? null : ['Failed', resultOf(attempt)],
          ['Took', `${attempt.duration_ms.toLocaleString('en-US')} ms`],
          [
            'Next attempt',
            next_attempt_at === null ? (
              attempt.status === 'FAILED' ? (
                'None: it was the last one'
              ) : (
                'None: it arrived'
              )
            ) : (
              <Time key="n" at={next_attempt_at} exact />
            ),
          ],
          ['Id', <Id key="i" id={attempt.id} />],
        ]}
      />
    </Card>
  );
}

/** What it was sent with, as the service makes it again; the secret is never part of it. */
function Headers({ attempt: { request_headers } }: { attempt: SentWebhookAttempt }) {
  const lines = Object.entries(request_headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <Card title="Headers as sent">
      {!('x-svc-signature' in request_headers) && (
        <Notice tone="warn" title="Its signatures are not known any more.">
          They were made with a secret that was replaced since, or the endpoint or the body is gone.
        </Notice>
      )}
      <CodeBlock label="the headers" code={lines.join('\n')} />
    </Card>
  );
}
