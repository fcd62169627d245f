import type { Decision, WebhookAttempt } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { useEndpoints } from '../../api/endpoints.ts';
import { inChunks } from '../../api/in-chunks.ts';
import { useMay } from '../../api/queries.ts';
import { StateBadge } from '../../components/Badge.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card } from '../../components/Page.tsx';
import { Time } from '../../components/Value.tsx';
import { resultOf } from '../../lib/webhooks.ts';
import { words } from '../../lib/words.ts';
import styles from './DecisionPage.module.css';
import { useEntries } from './use-entries.ts';

/** Webhook attempts about the decision, oldest first. Administrators only. */
export function SentWebhooks({ decision }: { decision: Decision }) {
  const may = useMay('admin');
  const entries = useEntries(decision).data?.entries;
  const ids = entries?.map(({ event }) => event.id) ?? [];
  const query = useQuery({
    queryKey: ['webhooks', 'deliveries', 'of', ids],
    queryFn: () =>
      inChunks(ids, async (event) => (await purser.webhookDeliveries.list({ event, limit: 200 })).data),
    enabled: may && ids.length > 0,
  });
  if (!may || query.data?.length === 0) return null;
  if (query.isError) {
    return (
      <Card title="Webhooks sent" screen_only>
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      </Card>
    );
  }
  if (query.data === undefined) return null;
  return (
    <Card title="Webhooks sent" screen_only>
      <Attempts of={[...query.data].sort((a, b) => (a.attempted_at < b.attempted_at ? -1 : 1))} />
    </Card>
  );
}

function Attempts({ of }: { of: readonly WebhookAttempt[] }) {
  const endpoints = new Map((useEndpoints().data ?? []).map(({ id, url }) => [id, new URL(url).host]));
  return (
    <ol className={styles.thread} aria-label="Webhooks sent">
      {of.map((each) => (
        <li key={each.id}>
          <p className={styles.line}>
            <Link to={`/webhooks/events/${each.event_id}`}>{words(each.event_type)}</Link>
            <StateBadge state={each.status} />
          </p>
          <p className={styles.sub}>
            {resultOf(each) || 'No response'} ·{' '}
            <Link to={`/webhooks/${each.endpoint_id}`}>{endpoints.get(each.endpoint_id) ?? 'endpoint'}</Link>{' '}
            · <Link to={`/webhooks/attempts/${each.id}`}>attempt {each.attempt}</Link> ·{' '}
            <Time at={each.attempted_at} />
          </p>
        </li>
      ))}
    </ol>
  );
}
