import type { Rail } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { useRails } from '../../api/history.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { AdminOnly } from '../../components/AdminOnly.tsx';
import { Badge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Confirm } from '../../components/Confirm.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { type Column, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { formatCount } from '../../lib/money.ts';
import { Cards } from './Cards.tsx';
import { KIND_LABELS } from './kinds.ts';
import { RailAddress, RailForm } from './RailForm.tsx';

const COLUMNS: readonly Column<Rail>[] = [
  { name: 'Name', heading: true, wrap: true, cell: (each) => each.name },
  { name: 'Kind', cell: (each) => KIND_LABELS[each.kind] },
  {
    name: 'Status',
    cell: ({ status }) =>
      status === 'ACTIVE' ? (
        <Badge tone="allow">Active</Badge>
      ) : (
        <Badge tone="review">Waiting for secret</Badge>
      ),
  },
  { name: 'Accepted', number: true, cell: ({ events }) => formatCount(events.accepted) },
  { name: 'Refused', number: true, cell: ({ events }) => formatCount(events.refused) },
  { name: 'Ignored', number: true, cell: ({ events }) => formatCount(events.ignored) },
  {
    name: 'Last problem',
    wrap: true,
    cell: ({ last_problem, last_problem_at }) =>
      last_problem === null || last_problem_at === null ? (
        'None'
      ) : (
        <>
          {last_problem} (<Time at={last_problem_at} />)
        </>
      ),
  },
];

export default function Rails() {
  const may = useMay('admin');
  const [is_adding, setAdding] = useState(false);
  const [made, setMade] = useState<Rail | null>(null);
  return (
    <Page
      title="Rails"
      lead="Card issuers send their events here. They become lines, and decisions of agents in Shadow whose cards pay. No payment is approved here."
      above={<Link to={'/history' as string}>History</Link>}
      actions={
        <Button kind="primary" why={!may && WHY_NOT.admin} onClick={() => setAdding(true)}>
          Add rail
        </Button>
      }
    >
      <AdminOnly what="rails">
        <RailTable />
      </AdminOnly>
      <Cards />
      {is_adding && (
        <RailForm
          rail={null}
          onClose={() => setAdding(false)}
          onMade={(rail) => {
            setAdding(false);
            setMade(rail);
          }}
        />
      )}
      {made !== null && <RailAddress rail={made} onClose={() => setMade(null)} />}
    </Page>
  );
}

function RailTable() {
  const query = useRails();
  const [asked, setAsked] = useState<{ what: 'url' | 'change' | 'delete'; of: Rail } | null>(null);
  if (query.isError && query.data === undefined)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <Loading lines={4} />;
  const close = () => setAsked(null);
  const button = (what: NonNullable<typeof asked>['what'], label: string, of: Rail) => (
    <Button
      small
      aria-label={`${label} ${of.name}`}
      {...(what === 'delete' ? { kind: 'danger' as const } : {})}
      onClick={() => setAsked({ what, of })}
    >
      {label}
    </Button>
  );
  return (
    <>
      <Card title="Rails" flush={query.data.length > 0}>
        {query.data.length === 0 ? (
          <Empty title="No rails yet">
            <p>Add Stripe Issuing or Lithic to see what agents pay by card before you integrate them.</p>
          </Empty>
        ) : (
          <Table
            label="Rails"
            rows={query.data}
            keyOf={(each) => each.id}
            columns={[
              ...COLUMNS,
              {
                name: 'Actions',
                hideName: true,
                cell: (each) => (
                  <span>
                    {button('url', 'URL', each)} {button('change', 'Change', each)}{' '}
                    {button('delete', 'Delete', each)}
                  </span>
                ),
              },
            ]}
          />
        )}
      </Card>
      {asked?.what === 'url' && <RailAddress rail={asked.of} onClose={close} />}
      {asked?.what === 'change' && <RailForm rail={asked.of} onClose={close} onMade={close} />}
      {asked?.what === 'delete' && (
        <Confirm
          title={`Delete the rail “${asked.of.name}”?`}
          action="Delete"
          onClose={close}
          work={async () => {
            await purser.rails.delete(asked.of.id);
            void invalidate('rails');
          }}
        >
          <p>Its events are refused from then on. Its lines and decisions stay.</p>
        </Confirm>
      )}
    </>
  );
}
