import type { LedgerEvent } from '@purser/sdk';
import { Link, useSearch } from '@tanstack/react-router';
import { call } from '../../api/client.ts';
import { useList } from '../../api/lists.ts';
import type { List } from '../../api/people.ts';
import { Button } from '../../components/Button.tsx';
import { type Filter, Filters } from '../../components/Filters.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, CardGrid, Empty, Loading, Page } from '../../components/Page.tsx';
import { SubjectLink } from '../../components/SubjectLink.tsx';
import { type Column, LoadMore, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { download } from '../../lib/download.ts';
import { pick, type Search } from '../../lib/search.ts';
import { words } from '../../lib/words.ts';
import { Checkpoints } from './Checkpoints.tsx';
import { Verify } from './Verify.tsx';

const PARAMS = ['type', 'subject', 'from', 'to', 'order'] as const;

const TYPES = [
  'decision.created',
  'decision.review.recorded',
  'decision.label.recorded',
  'decision.outcome.recorded',
  'capability.consumed',
  'reservation.expired',
  'agent.created',
  'agent.updated',
  'authority.created',
  'api_key.created',
  'api_key.revoked',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'webhook.secret_rotated',
  'member.invited',
  'member.joined',
  'member.role_changed',
  'member.removed',
  'invitation.revoked',
  'sessions.revoked',
  'workspace.created',
  'workspace.updated',
  'plan.changed',
] as const;

const FILTERS: readonly Filter[] = [
  { param: 'type', name: 'Type', options: TYPES.map((each) => [each, words(each)]) },
  { param: 'subject', name: 'Subject', placeholder: 'An id' },
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
  { name: 'Time', cell: (each) => <Time at={each.occurred_at} /> },
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
  const list = useList<LedgerEvent>(['ledger', 'events', filters], (cursor) =>
    call<List<LedgerEvent>>('GET', '/v1/ledger/events', { query: { ...filters, limit: 50, cursor } }),
  );
  return (
    <Page
      title="Ledger"
      lead="Every decision and every change is an entry that carries the hash of the one before. Whoever edits one, or cuts the end off, is found out."
      actions={<Button onClick={() => download('/v1/ledger/export')}>Export JSON Lines</Button>}
    >
      <CardGrid>
        <Verify since={since ?? ''} />
        <Checkpoints />
      </CardGrid>
      <Card title="Entries" flush>
        <div style={{ padding: '0 1.15rem 0.75rem' }}>
          <Filters filters={FILTERS} search={filters} to="/ledger" />
        </div>
        {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Loading lines={10} />}
        {list.isSuccess && list.rows.length === 0 && <Empty title="No entry fits these filters" />}
        {list.rows.length > 0 && (
          <>
            <Table label="Entries" columns={COLUMNS} rows={list.rows} keyOf={(each) => each.seq} />
            <LoadMore query={list} />
          </>
        )}
      </Card>
    </Page>
  );
}
