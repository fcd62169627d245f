import { ALLOWANCE_STATUSES } from '@purser/contract/values/allowances';
import type { Allowance, ListAllowancesQuery } from '@purser/sdk';
import { Link, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { type NamedAgent, useAgentNames } from '../../api/agent-names.ts';
import { purser } from '../../api/client.ts';
import { type PageQuery, useList } from '../../api/lists.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { AllowanceLink } from '../../components/allowances/AllowanceLink.tsx';
import { AllowanceUse } from '../../components/allowances/AllowanceUse.tsx';
import { usedTimes } from '../../components/allowances/allowances.ts';
import { RevokeAllowance, useMayRevoke } from '../../components/allowances/RevokeAllowance.tsx';
import { StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { type Filter, Filters } from '../../components/Filters.tsx';
import { type CsvColumns, ExportCsv } from '../../components/list/ExportCsv.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { type Column, LoadMore, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { pick, type Search } from '../../lib/search.ts';
import { visible } from '../../lib/visible.ts';
import { words } from '../../lib/words.ts';

const AllowanceForm = lazy(() => import('./AllowanceForm.tsx'));

const CSV: CsvColumns<Allowance> = [
  ['id', (each) => each.id],
  ['name', (each) => each.name],
  ['status', (each) => each.status],
  ['source', (each) => each.source],
  ['agent', (each) => each.agent?.slug ?? null],
  ['parent', (each) => each.parent],
  ['currency', (each) => each.currency],
  ['amount_minor', (each) => each.amount_minor],
  ['period', (each) => each.period],
  ['used_minor', (each) => each.standing.used_minor],
  ['total_used_minor', (each) => each.total.used_minor],
  ['total_used_count', (each) => each.total.used_count],
  ['expires_at', (each) => each.expires_at],
  ['created_at', (each) => each.created_at],
];

/** The names differ from the fields of a new allowance, so that each is unique while that dialog is open. */
const filtersOf = (agents: readonly NamedAgent[]): readonly Filter[] => [
  { param: 'status', name: 'Status', options: ALLOWANCE_STATUSES.map((each) => [each, words(each)]) },
  { param: 'agent', name: 'For', options: agents.map(({ slug, name }) => [slug, visible(name)]) },
  {
    param: 'automatic',
    name: 'Answers reviews',
    options: [
      ['true', 'Ahead, by itself'],
      ['false', 'Not by itself'],
    ],
  },
  { param: 'label', name: 'Label', placeholder: 'customer:c42' },
];

export default function Allowances() {
  const may = useMay('admin');
  const may_end = useMayRevoke();
  const search = useSearch({ strict: false }) as Search;
  const { agents } = useAgentNames();
  const [is_making, setMaking] = useState(false);
  const shown = filtersOf(agents);
  const filters = pick(
    search,
    shown.map(({ param }) => param),
  ) as Search;
  const fetchPage = (page: PageQuery) =>
    purser.allowances.list({ ...filters, ...page } as unknown as ListAllowancesQuery);
  const list = useList<Allowance>(['allowances', 'list', filters], fetchPage, {
    mode: 'first',
    idOf: ({ id }) => id,
  });
  const is_filtered = Object.keys(filters).length > 0;
  return (
    <Page
      title="Allowances"
      lead="Each caps what may be spent for one task, sub-agent, user or customer. Nothing is set aside, and no limit is lifted."
      actions={
        <Button kind="primary" why={!may && WHY_NOT.admin} onClick={() => setMaking(true)}>
          New allowance
        </Button>
      }
    >
      <Filters filters={shown} search={search} to="/allowances" />
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading lines={8} />}
      {list.isSuccess && (
        <Card
          flush
          title={is_filtered ? 'Results' : 'All allowances'}
          aside={<ExportCsv name="allowances" what="allowances" columns={CSV} fetch={fetchPage} />}
        >
          {list.rows.length === 0 ? (
            <Empty title={is_filtered ? 'No allowances match these filters' : 'No allowances yet'}>
              <p>
                Make one for a run, a sub-agent, a user or a customer. A spend that names it counts toward it
                and toward everything above it.
              </p>
            </Empty>
          ) : (
            <>
              <Table
                label="Allowances"
                columns={columnsOf(may_end)}
                rows={list.rows}
                keyOf={({ id }) => id}
              />
              <LoadMore query={list} />
            </>
          )}
        </Card>
      )}
      {is_making && (
        <Suspense fallback={null}>
          <AllowanceForm onClose={() => setMaking(false)} />
        </Suspense>
      )}
    </Page>
  );
}

function columnsOf(may_end: boolean): readonly Column<Allowance>[] {
  return [
    {
      name: 'Name',
      heading: true,
      wrap: true,
      cell: (each) => <AllowanceLink allowance={each} />,
    },
    { name: 'Status', cell: ({ status }) => <StateBadge state={status} /> },
    {
      name: 'Agent',
      short: true,
      cell: ({ agent }) =>
        agent === null ? (
          'Any'
        ) : (
          <Link to={`/agents/${agent.slug}`}>
            <AgentName of={agent} />
          </Link>
        ),
    },
    { name: 'Used', cell: (each) => <AllowanceUse allowance={each} /> },
    { name: 'Spends', cell: usedTimes },
    { name: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
    ...(may_end
      ? [
          {
            name: 'Actions',
            hideName: true,
            cell: (each: Allowance) => <RevokeAllowance allowance={each} />,
          },
        ]
      : []),
  ];
}
