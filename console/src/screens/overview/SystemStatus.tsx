import type { Overview } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { useMay, workspaceQuery } from '../../api/queries.ts';
import { Time } from '../../components/Value.tsx';
import styles from './Overview.module.css';

/** The most failing endpoints to name. */
const NAMED = 3;

/** Status of service, history, webhooks, channels and plan. */
export function SystemStatus({
  last_verification: last,
  failing_channels,
}: {
  last_verification: Overview['last_verification'] | undefined;
  failing_channels: Overview['failing_channels'];
}) {
  const may = useMay('admin');
  const workspace = useQuery(workspaceQuery).data;
  const ready = useQuery({
    queryKey: ['ready'],
    queryFn: async () => (await fetch('/readyz')).ok,
    refetchInterval: 30_000,
  });
  const checkpoint = useQuery({
    queryKey: ['ledger', 'newest-checkpoint'],
    queryFn: async () => (await purser.ledger.checkpoints({ limit: 1 })).data[0] ?? null,
  });
  const webhooks = useQuery({
    queryKey: ['webhooks', 'health'],
    queryFn: async () => {
      const [endpoints, attempts] = await Promise.all([
        purser.webhookEndpoints.list({ limit: 50 }),
        purser.webhookDeliveries.list({ limit: 1 }),
      ]);
      return { data: endpoints.data, ever_sent: attempts.data.length > 0 };
    },
    enabled: may && workspace?.features.webhooks === true,
  }).data;
  const failing = (webhooks?.data ?? []).filter(
    (each) => each.failing_since !== null || each.status === 'disabled',
  );
  const { agents } = workspace?.quotas ?? {};
  const is_ready = !ready.isError && ready.data;
  return (
    <div className={styles.state}>
      <p data-tone={is_ready === undefined ? 'none' : is_ready ? 'good' : 'bad'}>
        <span>
          {is_ready === undefined
            ? 'Checking the service…'
            : is_ready
              ? 'The service is ready.'
              : 'The service is not ready. See its log.'}
        </span>
      </p>
      {checkpoint.data !== undefined && (
        <p data-tone={checkpoint.data === null ? 'warn' : 'good'}>
          {checkpoint.data === null ? (
            <span>The history is not signed yet.</span>
          ) : (
            <span>
              The history is signed up to entry <Link to="/ledger">{checkpoint.data.seq}</Link>,{' '}
              <Time at={checkpoint.data.signed_at} />.
            </span>
          )}
        </p>
      )}
      {last !== undefined && (
        <p data-tone={last === null ? 'warn' : last.valid ? 'good' : 'bad'}>
          <span>
            {last === null ? (
              <>
                The history has never been <Link to="/ledger">verified</Link>.
              </>
            ) : last.valid ? (
              <>
                The history was <Link to="/ledger">verified</Link> <Time at={last.checked_at} />:{' '}
                {last.events_checked} entries, none altered.
              </>
            ) : (
              <>
                Verification failed: altered from entry <Link to="/ledger">{last.first_break_seq}</Link> on,{' '}
                <Time at={last.checked_at} />.
              </>
            )}
          </span>
        </p>
      )}
      {webhooks !== undefined && (
        <p data-tone={failing.length > 0 ? 'bad' : webhooks.ever_sent ? 'good' : 'none'}>
          <span>
            {webhooks.data.length === 0 ? (
              <>
                No <Link to="/webhooks">webhook</Link> is set up.
              </>
            ) : failing.length === 0 && !webhooks.ever_sent ? (
              <>
                Nothing was sent to the <Link to="/webhooks">webhooks</Link> yet.
              </>
            ) : failing.length === 0 ? (
              <>
                All <Link to="/webhooks">webhooks</Link> are being delivered.
              </>
            ) : (
              <>
                {failing.length} of {webhooks.data.length} <Link to="/webhooks">webhooks</Link> fail or are
                disabled:{' '}
                {failing.slice(0, NAMED).map(({ id, url }, i) => (
                  <span key={id}>
                    {i > 0 && ', '}
                    <Link to={`/webhooks/${id}`} title={url}>
                      {new URL(url).host}
                    </Link>
                  </span>
                ))}
                {failing.length > NAMED && ` and ${failing.length - NAMED} more`}.
              </>
            )}
          </span>
        </p>
      )}
      {failing_channels.length > 0 && (
        <p data-tone="bad">
          <span>
            {failing_channels.length === 1 ? 'A channel does' : `${failing_channels.length} channels do`} not
            receive <Link to="/notifications">notices</Link>:{' '}
            {failing_channels
              .slice(0, NAMED)
              .map(({ name }) => name)
              .join(', ')}
            {failing_channels.length > NAMED && ` and ${failing_channels.length - NAMED} more`}.
          </span>
        </p>
      )}
      {workspace !== undefined && (
        <p data-tone={agents?.limit != null && agents.used >= agents.limit ? 'warn' : 'good'}>
          <span>
            Plan {workspace.plan}
            {workspace.trial?.active === true && (
              <>
                , trial until <Time at={workspace.trial.ends_at} exact />
              </>
            )}
            {agents !== undefined &&
              (agents.limit === null
                ? `, ${agents.used} agents (no limit)`
                : `, ${agents.used} of ${agents.limit} agents`)}
            .
          </span>
        </p>
      )}
    </div>
  );
}
