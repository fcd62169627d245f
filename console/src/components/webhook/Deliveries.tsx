import type { ListWebhookDeliveriesQuery, WebhookAttempt } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { pageLimit } from '../../api/lists.ts';
import { useNewestFirst } from '../../api/newest-first.ts';
import type { Search } from '../../lib/search.ts';
import { DELIVERED_TYPES, resultOf } from '../../lib/webhooks.ts';
import { words } from '../../lib/words.ts';
import { StateBadge } from '../Badge.tsx';
import { type Filter, Filters } from '../Filters.tsx';
import { CSV_PAGE, type CsvColumns, ExportCsv } from '../list/ExportCsv.tsx';
import { NewRows } from '../list/NewRows.tsx';
import { ErrorNotice } from '../Notice.tsx';
import { Card, Empty, Loading } from '../Page.tsx';
import { type Column, LoadMore, Table } from '../Table.tsx';
import { Time } from '../Value.tsx';
import { Resend } from './Resend.tsx';
import styles from './webhook.module.css';

/** The parameters of an address that filter deliveries. */
export const DELIVERY_PARAMS = ['status', 'type', 'endpoint', 'event', 'from', 'to'] as const;

const STATUSES = (['SUCCEEDED', 'RETRYING', 'FAILED'] as const).map((each) => [each, words(each)] as const);

/** Attempts to deliver, newest first, with the filters that stand in the address. */
export function Deliveries({
  search,
  to,
  fixed = {},
  endpoints,
}: {
  search: Search;
  /** The path of the screen. */
  to: string;
  /** What is not to be chosen here: the endpoint of an endpoint's page, the event of an event's. */
  fixed?: { endpoint?: string; event?: string };
  /** The endpoints to choose from, by id. Not given where one is fixed. */
  endpoints?: ReadonlyMap<string, string>;
}) {
  const filters = Object.fromEntries(
    DELIVERY_PARAMS.filter((name) => search[name] !== undefined).map((name) => [name, search[name]]),
  );
  const query = { ...filters, ...fixed };
  const fetchPage = (limit: number, cursor: string | undefined) =>
    purser.webhookDeliveries.list({ ...query, limit, cursor } as ListWebhookDeliveriesQuery);
  const list = useNewestFirst<WebhookAttempt>(
    ['webhooks', 'deliveries', query],
    (cursor) => fetchPage(pageLimit(cursor), cursor),
    (each) => each.id,
  );
  return (
    <>
      <NewRows list={list} />
      <Card
        title="Deliveries"
        flush={list.rows.length > 0}
        aside={
          <ExportCsv
            name="deliveries"
            what="deliveries"
            columns={CSV}
            fetch={(cursor) => fetchPage(CSV_PAGE, cursor)}
          />
        }
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
              Object.keys(filters).length > 0 ? 'No delivery fits these filters' : 'Nothing was delivered yet'
            }
          >
            <p>Every attempt is listed here with what came of it. “Send test” makes the first.</p>
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
              · again <Time at={each.next_attempt_at} />
            </span>
          )}
        </>
      ),
    },
    { name: 'Attempt', number: true, cell: (each) => each.attempt },
    { name: 'Took', number: true, cell: (each) => `${each.duration_ms} ms` },
    { name: 'Actions', hideName: true, cell: (each) => <Resend small attempt={each} /> },
  ];
}
