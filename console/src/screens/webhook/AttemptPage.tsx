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

/** One delivery attempt: request, response and next attempt. */
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
  /** True once the endpoints are loaded. */
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
              is_known && 'A deleted endpoint'
            ) : (
              <span key="u" className={styles.url}>
                {endpoint.url}
                {endpoint.updated_at > attempted_at && ' (current URL: the endpoint was changed since)'}
              </span>
            ),
          ],
          ['Sent', <Time key="t" at={attempted_at} exact />],
          ['Response', http_status === null ? 'None' : `Status ${http_status}`],
          attempt.error === null ? null : ['Error', resultOf(attempt)],
          ['Duration', `${attempt.duration_ms.toLocaleString('en-US')} ms`],
          [
            'Next attempt',
            next_attempt_at === null ? (
              attempt.status === 'FAILED' ? (
                'None: this was the last'
              ) : (
                'None: delivered'
              )
            ) : (
              <Time key="n" at={next_attempt_at} exact />
            ),
          ],
          ['ID', <Id key="i" id={attempt.id} />],
        ]}
      />
    </Card>
  );
}

/** The request headers, as reconstructed by the service. They never contain the secret. */
function Headers({ attempt: { request_headers } }: { attempt: SentWebhookAttempt }) {
  const lines = Object.entries(request_headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <Card title="Headers as sent">
      {!('x-svc-signature' in request_headers) && (
        <Notice tone="warn" title="The signatures are no longer available.">
          Their secret was replaced, or the endpoint or body was deleted.
        </Notice>
      )}
      <CodeBlock label="the headers" code={lines.join('\n')} />
    </Card>
  );
}
