import type { ListWebhookDeliveriesQuery, WebhookAttempt } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { type PageQuery, useList } from '../../api/lists.ts';
import type { Search } from '../../lib/search.ts';
import { DELIVERED_TYPES, resultOf } from '../../lib/webhooks.ts';
import { words } from '../../lib/words.ts';
import { StateBadge } from '../Badge.tsx';
import { type Filter, Filters } from '../Filters.tsx';
import { type CsvColumns, ExportCsv } from '../list/ExportCsv.tsx';
import { NewRows } from '../list/NewRows.tsx';
import { ErrorNotice } from '../Notice.tsx';
import { Card, Empty, Loading } from '../Page.tsx';
import { type Column, LoadMore, Table } from '../Table.tsx';
import { Time } from '../Value.tsx';
import { Resend } from './Resend.tsx';
import styles from './webhook.module.css';

/** URL parameters that filter deliveries. */
export const DELIVERY_PARAMS = ['status', 'type', 'endpoint', 'event', 'from', 'to'] as const;

const STATUSES = (['SUCCEEDED', 'RETRYING', 'FAILED'] as const).map((each) => [each, words(each)] as const);

/** Delivery attempts, newest first, filtered by the URL. */
export function Deliveries({
  search,
  to,
  fixed = {},
  endpoints,
}: {
  search: Search;
  /** The path of the screen. */
  to: string;
  /** Filters fixed by the page: its endpoint or event. */
  fixed?: { endpoint?: string; event?: string };
  /** URLs of the endpoints to choose from, by ID. Omitted if one is fixed. */
  endpoints?: ReadonlyMap<string, string>;
}) {
  const filters = Object.fromEntries(
    DELIVERY_PARAMS.filter((name) => search[name] !== undefined).map((name) => [name, search[name]]),
  );
  const query = { ...filters, ...fixed };
  const fetchPage = (page: PageQuery) =>
    purser.webhookDeliveries.list({ ...query, ...page } as ListWebhookDeliveriesQuery);
  const list = useList<WebhookAttempt>(['webhooks', 'deliveries', query], fetchPage, {
    mode: 'counted',
    idOf: (each) => each.id,
  });
  return (
    <>
      <NewRows list={list} />
      <Card
        title="Deliveries"
        flush={list.rows.length > 0}
        aside={<ExportCsv name="deliveries" what="deliveries" columns={CSV} fetch={fetchPage} />}
      >
        {fixed.event === undefined && (
          <div style={list.rows.length > 0 ? { padding: '0 1.15rem 0.75rem' } : undefined}>
            <Filters filters={filtersOf(endpoints)} search={search} to={to} />
          </div>
        )}
        {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Loading lines={5} />}
        {list.isSuccess && list.rows.length === 0 && (
          <Empty
            title={
              Object.keys(filters).length > 0 ? 'No deliveries match these filters' : 'No deliveries yet'
            }
          >
            <p>Each attempt is listed here with its result. Use “Send test” for a first one.</p>
          </Empty>
        )}
        {list.rows.length > 0 && (
          <>
            <Table
              label="Deliveries"
              columns={columnsOf(endpoints, fixed)}
              rows={list.rows}
              keyOf={(each) => each.id}
            />
            <LoadMore query={list} />
          </>
        )}
      </Card>
    </>
  );
}

const CSV: CsvColumns<WebhookAttempt> = [
  ['id', (each) => each.id],
  ['attempted_at', (each) => each.attempted_at],
  ['endpoint_id', (each) => each.endpoint_id],
  ['event_id', (each) => each.event_id],
  ['event_type', (each) => each.event_type],
  ['attempt', (each) => each.attempt],
  ['status', (each) => each.status],
  ['http_status', (each) => each.http_status],
  ['error', (each) => each.error],
  ['duration_ms', (each) => each.duration_ms],
  ['next_attempt_at', (each) => each.next_attempt_at],
];

function filtersOf(endpoints: ReadonlyMap<string, string> | undefined): readonly Filter[] {
  return [
    { param: 'status', name: 'Status', options: STATUSES },
    { param: 'type', name: 'Event', options: DELIVERED_TYPES },
    ...(endpoints === undefined ? [] : [{ param: 'endpoint', name: 'Endpoint', options: [...endpoints] }]),
    { param: 'from', name: 'From', type: 'date' },
    { param: 'to', name: 'To', type: 'date' },
  ];
}

function columnsOf(
  endpoints: ReadonlyMap<string, string> | undefined,
  fixed: { endpoint?: string; event?: string },
): readonly Column<WebhookAttempt>[] {
  const endpoint: Column<WebhookAttempt> = {
    name: 'Endpoint',
    short: true,
    cell: ({ endpoint_id }) => {
      const url = endpoints?.get(endpoint_id) ?? endpoint_id;
      return (
        <Link to={`/webhooks/${endpoint_id}`} title={url}>
          {url}
        </Link>
      );
    },
  };
  const event: Column<WebhookAttempt> = {
    name: 'Event',
    heading: true,
    cell: ({ event_id, event_type }) => <Link to={`/webhooks/events/${event_id}`}>{event_type}</Link>,
  };
  return [
    {
      name: 'Time',
      cell: (each) => (
        <Link to={`/webhooks/attempts/${each.id}`}>
          <Time at={each.attempted_at} />
        </Link>
      ),
    },
    ...(fixed.event === undefined ? [event] : []),
    ...(fixed.endpoint === undefined ? [endpoint] : []),
    { name: 'Status', cell: (each) => <StateBadge state={each.status} /> },
    {
      name: 'Result',
      wrap: true,
      cell: (each) => (
        <>
          {resultOf(each)}
          {each.next_attempt_at !== null && (
            <span className={styles.next}>
              {' '}
              · next <Time at={each.next_attempt_at} />
            </span>
          )}
        </>
      ),
    },
    { name: 'Attempt', number: true, cell: (each) => each.attempt },
    { name: 'Duration', number: true, cell: (each) => `${each.duration_ms} ms` },
    { name: 'Actions', hideName: true, cell: (each) => <Resend small attempt={each} /> },
  ];
}
