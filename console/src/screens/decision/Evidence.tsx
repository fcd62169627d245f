import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { useMay } from '../../api/queries.ts';
import { StateBadge } from '../../components/Badge.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card } from '../../components/Page.tsx';
import { Time } from '../../components/Value.tsx';
import { canHash, hashOf } from '../../lib/ledger.ts';
import styles from './DecisionPage.module.css';

const entryKey = (decision_id: string) => ['decision', decision_id, 'ledger'] as const;

/** The entry of a decision's making. It never changes, so it is asked for once. */
function useEntry(decision_id: string) {
  return useQuery({
    queryKey: entryKey(decision_id),
    queryFn: async () => {
      const { data } = await purser.ledger.events({ subject: decision_id, limit: 1 });
      const event = data[0] ?? null;
      return { event, computed: event !== null && canHash() ? await hashOf(event) : null };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Where the decision stands in the history, and whether its hash is what this browser makes of it. */
export function LedgerEntry({ decision_id }: { decision_id: string }) {
  const query = useEntry(decision_id);
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  const { event, computed } = query.data ?? { event: null, computed: null };
  if (event === null) return <p>{query.isPending ? 'Looking…' : 'No entry was found.'}</p>;
  return (
    <>
      <p>
        Entry{' '}
        <Link to="/ledger" search={{ subject: decision_id }}>
          {event.seq}
        </Link>
        , <Time at={event.occurred_at} />
      </p>
      <code className={styles.hash}>{event.hash}</code>
      {computed === null ? (
        <p className={styles.sub}>This browser computes hashes only over https or on localhost.</p>
      ) : computed === event.hash ? (
        <Notice tone="good">Computed again in this browser: the same hash.</Notice>
      ) : (
        <Notice tone="bad" title="The hash is not what the entry makes.">
          Computed here: <code className={styles.hash}>{computed}</code>
        </Notice>
      )}
      <p>
        <Link to="/ledger" search={{ since: String(event.seq) }}>
          Verify the history from here
        </Link>
      </p>
    </>
  );
}

/** What was sent to webhook endpoints when the decision was made. Administrators only. */
export function Deliveries({ decision_id }: { decision_id: string }) {
  const may = useMay('admin');
  const event_id = useEntry(decision_id).data?.event?.id;
  const query = useQuery({
    queryKey: ['webhooks', 'deliveries', 'of', event_id],
    queryFn: async () => (await purser.webhookDeliveries.list({ event: event_id as string, limit: 20 })).data,
    enabled: may && event_id !== undefined,
  });
  if (!may || query.data === undefined || query.data.length === 0) return null;
  return (
    <Card title="Webhooks sent">
      <ol className={styles.thread}>
        {query.data.map((each) => (
          <li key={each.id}>
            <p className={styles.line}>
              <StateBadge state={each.status} />
              <Link to={`/webhooks/${each.endpoint_id}`}>
                {each.http_status ?? each.error ?? 'no answer'}
              </Link>
              <span className={styles.sub}>
                attempt {each.attempt} · <Time at={each.attempted_at} />
              </span>
            </p>
          </li>
        ))}
      </ol>
    </Card>
  );
}
