import { DEFAULT_EVENT_TYPES, WEBHOOK_EVENT_TYPES } from '@purser/contract/values/webhooks';
import type { NewWebhook, WebhookItem } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { useEndpoints } from '../../api/endpoints.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, WHY_NOT, workspaceQuery } from '../../api/queries.ts';
import { AdminOnly } from '../../components/AdminOnly.tsx';
import { Badge, StateBadge } from '../../components/Badge.tsx';
import { Button, buttonClass } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { type CsvColumns, ExportCsv } from '../../components/list/ExportCsv.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { ShownOnce } from '../../components/ShownOnce.tsx';
import { type Column, Table } from '../../components/Table.tsx';
import { CodeBlock, Time } from '../../components/Value.tsx';
import { DELIVERY_PARAMS, Deliveries } from '../../components/webhook/Deliveries.tsx';
import { EndpointForm } from '../../components/webhook/EndpointForm.tsx';
import { pick, type Search } from '../../lib/search.ts';

const COLUMNS: readonly Column<WebhookItem>[] = [
  {
    name: 'URL',
    heading: true,
    wrap: true,
    cell: (each) => <Link to={`/webhooks/${each.id}`}>{each.url}</Link>,
  },
  {
    name: 'Events',
    cell: (each) =>
      each.events.length === WEBHOOK_EVENT_TYPES.length ? (
        'All'
      ) : (
        <span title={each.events.join(', ')}>
          {each.events.length} of {WEBHOOK_EVENT_TYPES.length}
        </span>
      ),
  },
  {
    name: 'Status',
    cell: (each) => (
      <StateBadge
        state={each.status}
        title={each.disabled_reason === 'ONLY_FAILURES' ? 'Every delivery failed for five days' : undefined}
      />
    ),
  },
  {
    name: 'Health',
    cell: (each) =>
      each.failing_since === null ? (
        <Badge tone="allow">No failures</Badge>
      ) : (
        <>
          <Badge tone="deny">Failing</Badge> since <Time at={each.failing_since} />
        </>
      ),
  },
  { name: 'Created', cell: (each) => <Time at={each.created_at} /> },
];

const CSV: CsvColumns<WebhookItem> = [
  ['id', (each) => each.id],
  ['url', (each) => each.url],
  ['events', (each) => each.events.join(' ')],
  ['status', (each) => each.status],
  ['failing_since', (each) => each.failing_since],
  ['created_at', (each) => each.created_at],
];

export default function Webhooks() {
  const may = useMay('admin');
  const workspace = useQuery(workspaceQuery);
  const lacks_plan = workspace.data?.features.webhooks === false;
  const [is_adding, setAdding] = useState(false);
  return (
    <Page
      title="Webhooks"
      lead="Purser notifies your services of events. Each event is signed, and retried until it is received."
      actions={
        <Button
          kind="primary"
          why={(!may && WHY_NOT.admin) || (lacks_plan && 'Webhooks need the Team plan.')}
          onClick={() => setAdding(true)}
        >
          Add endpoint
        </Button>
      }
    >
      {workspace.data !== undefined && lacks_plan && (
        <Notice tone="warn" title="Webhooks need the Team plan.">
          This workspace is on the “{workspace.data.plan}” plan. The operator of this service can change it:
          <CodeBlock
            label="the command"
            code={`npm run -s purser -- workspace set-plan --workspace ${workspace.data.id} --plan team`}
          />
        </Notice>
      )}
      <AdminOnly what="webhooks">
        <Endpoints />
      </AdminOnly>
      {is_adding && <AddEndpoint onClose={() => setAdding(false)} />}
    </Page>
  );
}

function Endpoints() {
  const search = pick(useSearch({ strict: false }), DELIVERY_PARAMS) as Search;
  const query = useEndpoints();
  if (query.isError && query.data === undefined)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <Loading lines={6} />;
  if (query.data.length === 0) {
    return (
      <Card>
        <Empty title="No endpoints yet">
          <p>
            Add the URL of one of your services to notify it of decisions, reviews, labels and outcomes. See
            the <a href="/docs">API reference</a> for the payloads.
          </p>
        </Empty>
      </Card>
    );
  }
  return (
    <>
      <Card
        title="Endpoints"
        flush
        aside={
          <ExportCsv
            name="endpoints"
            what="endpoints"
            columns={CSV}
            fetch={(page) => purser.webhookEndpoints.list(page)}
          />
        }
      >
        <Table label="Endpoints" columns={COLUMNS} rows={query.data} keyOf={(each) => each.id} />
      </Card>
      <Deliveries
        search={search}
        to="/webhooks"
        endpoints={new Map(query.data.map((each) => [each.id, each.url]))}
      />
    </>
  );
}

function AddEndpoint({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<NewWebhook | null>(null);
  return (
    <Dialog title={made === null ? 'Add endpoint' : 'Endpoint secret'} onClose={onClose}>
      {made === null ? (
        <EndpointForm
          initial={{ url: '', events: DEFAULT_EVENT_TYPES }}
          action="Add endpoint"
          onClose={onClose}
          submit={async (values) => {
            const answer = await purser.webhookEndpoints.create(values);
            void invalidate('webhooks');
            setMade(answer);
          }}
        />
      ) : (
        <>
          <ShownOnce title="Copy this secret now." label="the secret" secret={made.secret}>
            <p>The receiver uses it to verify that a delivery comes from Purser:</p>
            <CodeBlock label="a line for .env" code={`PURSER_WEBHOOK_SECRET=${made.secret}`} />
          </ShownOnce>
          <Actions>
            <Link to={`/webhooks/${made.id}`} className={buttonClass()}>
              Open and send a test
            </Link>
            <Button kind="primary" onClick={onClose}>
              Done
            </Button>
          </Actions>
        </>
      )}
    </Dialog>
  );
}
