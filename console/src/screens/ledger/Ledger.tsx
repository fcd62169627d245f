import type { LedgerEvent, ListLedgerEventsQuery } from '@purser/sdk';
import { Link, useSearch } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { useList } from '../../api/lists.ts';
import { Button } from '../../components/Button.tsx';
import { type Filter, Filters } from '../../components/Filters.tsx';
import { NewRows } from '../../components/list/NewRows.tsx';
import { BY_TIME, useSorting } from '../../components/list/use-sorting.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { SubjectLink } from '../../components/names/SubjectLink.tsx';
import { Card, CardGrid, Empty, Loading, Page } from '../../components/Page.tsx';
import { type Column, LoadMore, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { downloadFile, downloadStreamed } from '../../lib/download.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { LEDGER_TYPES } from '../../lib/ledger-types.ts';
import { pick, type Search } from '../../lib/search.ts';
import { words } from '../../lib/words.ts';
import { Checkpoints } from './Checkpoints.tsx';
import { Verify } from './Verify.tsx';

const PARAMS = ['type', 'subject', 'from', 'to', 'order'] as const;

const FILTERS: readonly Filter[] = [
  { param: 'type', name: 'Type', options: LEDGER_TYPES.map((each) => [each, words(each)]) },
  { param: 'subject', name: 'Subject', placeholder: 'ID' },
  { param: 'from', name: 'From', type: 'date' },
  { param: 'to', name: 'To', type: 'date' },
  {
    param: 'order',
    name: 'Order',
    options: [
      ['desc', 'Newest first'],
      ['asc', 'Oldest first'],
    ],
  },
];

const COLUMNS: readonly Column<LedgerEvent>[] = [
  {
    name: 'Entry',
    number: true,
    heading: true,
    cell: (each) => <Link to={`/ledger/${each.seq}`}>{each.seq}</Link>,
  },
  { name: 'Time', sort: BY_TIME, cell: (each) => <Time at={each.occurred_at} /> },
  { name: 'Type', cell: (each) => words(each.type) },
  { name: 'Subject', cell: (each) => <SubjectLink subject={each.subject} /> },
  {
    name: 'Hash',
    cell: (each) => (
      <code title={each.hash}>{each.hash.slice('sha256:'.length, 'sha256:'.length + 16)}…</code>
    ),
  },
];

export default function Ledger() {
  const search = useSearch({ strict: false });
  const filters = pick(search, PARAMS) as Search;
  const { since } = pick(search, ['since']);
  const sorting = useSorting('/ledger');
  const list = useList<LedgerEvent>(
    ['ledger', 'events', filters],
    (page) => purser.ledger.events({ ...filters, ...page } as ListLedgerEventsQuery),
    { mode: 'counted', idOf: (each) => String(each.seq), is_newest_first: filters.order !== 'asc' },
  );
  const exporting = useAction(() => downloadStreamed('/v1/ledger/export'));
  const listing = useAction(async () => {
    const csv = await purser.ledger.eventsCsv(filters as ListLedgerEventsQuery);
    downloadFile('ledger-entries.csv', await csv.blob());
  });
  return (
    <Page
      title="Ledger"
      lead="Every decision and change is an entry with the hash of the previous one. Verification detects any edit or truncation."
      actions={
        <Button busy={exporting.busy} onClick={() => void exporting.run()}>
          Export whole history
        </Button>
      }
    >
      {exporting.error !== null && <ErrorNotice error={exporting.error} />}
      <CardGrid>
        <Verify since={since ?? ''} />
        <Checkpoints />
      </CardGrid>
      <NewRows list={list} />
      <Card
        title="Entries"
        flush
        aside={
          <Button small busy={listing.busy} onClick={() => void listing.run()}>
            Export CSV
          </Button>
        }
      >
        {listing.error !== null && <ErrorNotice error={listing.error} />}
        <div style={{ padding: '0 1.15rem 0.75rem' }}>
          <Filters filters={FILTERS} search={filters} to="/ledger" />
        </div>
        {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Loading lines={10} />}
        {list.isSuccess && list.rows.length === 0 && <Empty title="No entries match these filters" />}
        {list.rows.length > 0 && (
          <>
            <Table
              label="Entries"
              columns={COLUMNS}
              rows={list.rows}
              keyOf={(each) => each.seq}
              sorting={sorting}
            />
            <LoadMore query={list} />
          </>
        )}
      </Card>
    </Page>
  );
}
