import type { RotatedWebhook, WebhookItem } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { refetchSoon } from '../../api/refetch-soon.ts';
import { AdminOnly } from '../../components/AdminOnly.tsx';
import { RecordedAs } from '../../components/Author.tsx';
import { StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Confirm } from '../../components/Confirm.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { SelectField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, CardGrid, Facts, Loading, Page } from '../../components/Page.tsx';
import { ShownOnce } from '../../components/ShownOnce.tsx';
import { Id, Time } from '../../components/Value.tsx';
import { DELIVERY_PARAMS, Deliveries } from '../../components/webhook/Deliveries.tsx';
import { EndpointForm } from '../../components/webhook/EndpointForm.tsx';
import styles from '../../components/webhook/webhook.module.css';
import { useAction } from '../../lib/hooks/use-action.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { pick, type Search } from '../../lib/search.ts';
import { healthOf } from '../../lib/webhooks.ts';
import { ResendPeriod } from './ResendPeriod.tsx';

const HEALTH_ATTEMPTS = 200;

const refetchEndpoint = () => invalidate('webhooks');

export default function WebhookPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const may = useMay('admin');
  const query = useQuery({
    queryKey: ['webhooks', 'endpoint', id],
    queryFn: async () => purser.webhookEndpoints.retrieve(id),
    enabled: may,
  });
  const above = <Link to="/webhooks">Webhooks</Link>;
  if (query.data !== undefined) return <Endpoint endpoint={query.data} />;
  return (
    <Page title="Endpoint" above={above}>
      <AdminOnly what="webhooks">
        {query.isError ? (
          <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Loading lines={8} />
        )}
      </AdminOnly>
    </Page>
  );
}

type Asked = 'rotate' | 'edit' | 'delete' | 'period' | null;

function Endpoint({ endpoint }: { endpoint: WebhookItem }) {
  const search = pick(useSearch({ strict: false }), DELIVERY_PARAMS) as Search;
  const may = useMay('admin');
  const navigate = useNavigate();
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  const [is_sent, setSent] = useState(false);
  const testing = useAction(async () => {
    setSent(false);
    await purser.webhookEndpoints.test(endpoint.id);
    setSent(true);
    refetchSoon('webhooks');
  });
  const switching = useAction(async () => {
    const status = endpoint.status === 'active' ? 'disabled' : 'active';
    await purser.webhookEndpoints.update(endpoint.id, { status });
    await refetchEndpoint();
  });
  const why = !may && WHY_NOT.admin;
  const host = new URL(endpoint.url).host;
  return (
    <Page
      title={host}
      above={<Link to="/webhooks">Webhooks</Link>}
      badges={<StateBadge state={endpoint.status} />}
      actions={
        <>
          <Button
            why={why || (endpoint.status !== 'active' && 'Enable the endpoint first.')}
            busy={testing.busy}
            onClick={() => void testing.run()}
          >
            Send test
          </Button>
          <Button why={why} onClick={() => setAsked('period')}>
            Resend a period
          </Button>
          <Button why={why} onClick={() => setAsked('edit')}>
            Edit
          </Button>
          <Button why={why} onClick={() => setAsked('rotate')}>
            Rotate secret
          </Button>
          <Button why={why} busy={switching.busy} onClick={() => void switching.run()}>
            {endpoint.status === 'active' ? 'Disable' : 'Enable'}
          </Button>
          <Button kind="danger" why={why} onClick={() => setAsked('delete')}>
            Delete
          </Button>
          {may && <RecordedAs />}
        </>
      }
    >
      <div role="status">
        {is_sent && (
          <Notice tone="good">
            Test event queued. It is signed and retried like any event. See Deliveries for the result.
          </Notice>
        )}
      </div>
      {testing.error !== null && <ErrorNotice error={testing.error} />}
      {switching.error !== null && <ErrorNotice error={switching.error} />}
      {endpoint.disabled_reason === 'ONLY_FAILURES' && (
        <Notice tone="bad" title="Purser disabled this endpoint.">
          Every delivery failed for five days. New events are not queued while it is disabled. After you
          enable it, use “Resend a period” to send the stored ones.
        </Notice>
      )}
      <CardGrid>
        <Card title="Endpoint">
          <Facts
            of={[
              [
                'URL',
                <span key="s" className={styles.url}>
                  {endpoint.url}
                </span>,
              ],
              ['ID', <Id key="i" id={endpoint.id} />],
              ['Events', endpoint.events.join(', ')],
              ['Created', <Time key="t" at={endpoint.created_at} exact />],
              [
                'Secret rotated',
                endpoint.secret_rotated_at === null ? (
                  'Never'
                ) : (
                  <Time key="t" at={endpoint.secret_rotated_at} exact />
                ),
              ],
              endpoint.failing_since === null
                ? null
                : ['Failing since', <Time key="t" at={endpoint.failing_since} exact />],
            ]}
          />
        </Card>
        <HealthCard id={endpoint.id} />
      </CardGrid>
      <Deliveries search={search} to={`/webhooks/${endpoint.id}`} fixed={{ endpoint: endpoint.id }} />
      {asked === 'rotate' && <Rotate endpoint={endpoint} onClose={close} />}
      {asked === 'period' && <ResendPeriod endpoint={endpoint} onClose={close} />}
      {asked === 'edit' && (
        <Dialog title="Edit endpoint" onClose={close}>
          <EndpointForm
            initial={endpoint}
            action="Save"
            onClose={close}
            submit={async (changes) => {
              await purser.webhookEndpoints.update(endpoint.id, changes);
              await refetchEndpoint();
              close();
            }}
          />
        </Dialog>
      )}
      {asked === 'delete' && (
        <Confirm
          title="Delete this endpoint?"
          action="Delete"
          onClose={close}
          work={async () => {
            await purser.webhookEndpoints.delete(endpoint.id);
            await navigate({ to: '/webhooks' });
            void invalidate('webhooks', 'endpoints');
          }}
        >
          <p>
            Purser sends nothing more to <code>{endpoint.url}</code>, including pending retries. Its secret is
            deleted. To pause the endpoint, disable it instead.
          </p>
        </Confirm>
      )}
    </Page>
  );
}

/** Success rate and response times of recent attempts. */
function HealthCard({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ['webhooks', 'deliveries', 'health', id],
    queryFn: async () => (await purser.webhookDeliveries.list({ endpoint: id, limit: HEALTH_ATTEMPTS })).data,
  });
  const health = healthOf(query.data ?? []);
  const ms = (value: number | null) => (value === null ? '–' : `${value} ms`);
  return (
    <Card title="Health">
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      <dl className={styles.health}>
        <div>
          <dt>Delivered</dt>
          <dd>
            {health.attempts === 0 ? '–' : `${((100 * health.succeeded) / health.attempts).toFixed(1)} %`}
          </dd>
        </div>
        <div>
          <dt>Median time</dt>
          <dd>{ms(health.p50_ms)}</dd>
        </div>
        <div>
          <dt>95th percentile</dt>
          <dd>{ms(health.p95_ms)}</dd>
        </div>
      </dl>
      <p>
        {health.attempts === 0
          ? 'No attempts yet.'
          : `${health.succeeded} of the last ${health.attempts} attempts got a 2xx response.`}
      </p>
    </Card>
  );
}

const OVERLAPS = [
  ['86400', 'Keep the old secret for a day'],
  ['3600', 'Keep the old secret for an hour'],
  ['604800', 'Keep the old secret for a week'],
  ['0', 'End the old secret now'],
] as const;

function Rotate({ endpoint, onClose }: { endpoint: WebhookItem; onClose: () => void }) {
  const [made, setMade] = useState<RotatedWebhook | null>(null);
  const form = useForm({ overlap: '86400' }, async ({ overlap }) => {
    setMade(await purser.webhookEndpoints.rotateSecret(endpoint.id, { overlap_seconds: Number(overlap) }));
    void refetchEndpoint();
  });
  if (made !== null) {
    return (
      <Dialog title="New secret" onClose={onClose}>
        <ShownOnce title="Copy this secret now." label="the secret" secret={made.secret}>
          <p>
            <code>x-svc-signature</code> now uses it.
            {made.previous_secrets_expire_at !== null && (
              <>
                {' '}
                <code>webhook-signature</code> also has the old secret’s signature until{' '}
                <Time at={made.previous_secrets_expire_at} exact />.
              </>
            )}
          </p>
        </ShownOnce>
        <Actions>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </Actions>
      </Dialog>
    );
  }
  return (
    <Dialog title="Rotate secret" onClose={onClose}>
      <form onSubmit={form.onSubmit} className={styles.form}>
        {form.error !== null && <ErrorNotice error={form.error} />}
        <p>
          Receivers that check <code>x-svc-signature</code> need the new secret at once. Receivers that check{' '}
          <code>webhook-signature</code> accept both for a while.
        </p>
        <SelectField label="Overlap" {...form.field('overlap')} options={OVERLAPS} />
        <Actions recorded>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.busy}>
            Rotate
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
