import type { AgentWithBudgets, ListAgentsQuery } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { purser } from '../../api/client.ts';
import { useHiddenCount } from '../../api/hidden-count.ts';
import { type PageQuery, useList } from '../../api/lists.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { BudgetLine } from '../../components/AgentBudget.tsx';
import { StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Sparkline } from '../../components/charts/Sparkline.tsx';
import { type Filter, Filters } from '../../components/Filters.tsx';
import { type CsvColumns, ExportCsv } from '../../components/list/ExportCsv.tsx';
import { BY_TIME, byName, SORTING_PARAMS, useSorting } from '../../components/list/use-sorting.tsx';
import { Views } from '../../components/list/Views.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { StopButton } from '../../components/Stop.tsx';
import { type Column, LoadMore, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { pick, type Search } from '../../lib/search.ts';
import { utcDay } from '../../lib/time.ts';

const FILTERS: readonly Filter[] = [
  { param: 'q', name: 'Name', type: 'search', placeholder: 'Slug or name' },
  {
    param: 'mode',
    name: 'Mode',
    options: [
      ['SHADOW', 'Shadow'],
      ['ENFORCE', 'Enforce'],
    ],
  },
  {
    param: 'status',
    name: 'Status',
    options: [
      ['active', 'Active'],
      ['paused', 'Paused'],
      ['revoked', 'Revoked'],
      ['active,paused,revoked', 'All, including revoked'],
    ],
  },
];

/** One row per agent. Its budgets, one per currency, share a cell. */
const CSV: CsvColumns<AgentWithBudgets> = [
  ['id', (each) => each.id],
  ['slug', (each) => each.slug],
  ['name', (each) => each.name],
  ['mode', (each) => each.mode],
  ['status', (each) => each.status],
  ['authority_version', (each) => each.authority_version],
  ['created_at', (each) => each.created_at],
  ['last_decision_at', (each) => each.last_decision_at],
  ['budgets', (each) => (each.budgets.length === 0 ? '' : JSON.stringify(each.budgets))],
];

const DAYS = 30;
/** The service returns daily counts for this many agents. */
const MAX_COUNTED = 100;

/** Daily decision counts of the most active agents. */
function useDays() {
  const from = utcDay(Date.now(), 1 - DAYS);
  const to = utcDay(Date.now());
  const { data } = useQuery({
    queryKey: ['overview', from, to],
    queryFn: async () => purser.reports.overview({ from, to }),
  });
  return useMemo(
    () => ({
      from,
      to,
      by_agent: data && new Map(data.by_agent.map((each) => [each.agent.id, each.by_day])),
    }),
    [data, from, to],
  );
}

const columnsOf = ({
  from,
  to,
  by_agent,
}: ReturnType<typeof useDays>): readonly Column<AgentWithBudgets>[] => [
  {
    name: 'Agent',
    sort: byName('slug'),
    heading: true,
    wrap: true,
    cell: (each) => (
      <>
        <Link to={`/agents/${each.slug}`}>{each.name}</Link>
        {each.name !== each.slug && (
          <div>
            <code>{each.slug}</code>
          </div>
        )}
      </>
    ),
  },
  { name: 'Status', cell: (each) => <StateBadge state={each.status} /> },
  { name: 'Mode', cell: (each) => <StateBadge state={each.mode} /> },
  {
    name: 'Policy',
    cell: (each) => (
      <Link to={`/agents/${each.slug}/authority`}>
        {each.authority_version === null ? 'Set policy' : `Version ${each.authority_version}`}
      </Link>
    ),
  },
  { name: 'This month', cell: (each) => <BudgetLine budgets={each.budgets} /> },
  {
    name: `${DAYS} days`,
    cell: (each) => {
      const days =
        by_agent?.get(each.id) ?? (by_agent !== undefined && by_agent.size < MAX_COUNTED ? [] : undefined);
      return days !== undefined && <Sparkline days={days} from={from} to={to} />;
    },
  },
  { name: 'Created', sort: BY_TIME, cell: (each) => <Time at={each.created_at} /> },
  {
    name: 'Last decision',
    cell: (each) => (each.last_decision_at ? <Time at={each.last_decision_at} /> : '—'),
  },
];

export default function Agents() {
  const given = useSearch({ strict: false });
  const search = pick(
    given,
    FILTERS.map(({ param }) => param),
  ) as Search;
  const sorting = useSorting('/agents');
  const shown = { ...search, ...sorting.query };
  const may = useMay('admin');
  const days = useDays();
  const columns = useMemo(() => columnsOf(days), [days]);
  const navigate = useNavigate();
  // Revoked agents are hidden unless a filter asks for them.
  const query = { status: 'active,paused', ...shown };
  const fetchPage = (page: PageQuery) => purser.agents.list({ ...query, ...page } as ListAgentsQuery);
  const list = useList<AgentWithBudgets>(['agents', 'list', query], fetchPage, {
    mode: 'first',
    idOf: (each) => each.id,
  });
  const hidden = useHiddenCount(
    ['agents', 'list', query],
    (limit) => purser.agents.list({ ...query, status: ['revoked'], limit } as ListAgentsQuery),
    { enabled: search.status === undefined },
  );
  const is_filtered = Object.keys(search).length > 0;
  const make = (
    <Button kind="primary" why={!may && WHY_NOT.admin} onClick={() => void navigate({ to: '/new-agent' })}>
      New agent
    </Button>
  );
  return (
    <Page
      title="Agents"
      width="wide"
      actions={
        <>
          {search.status === undefined && hidden !== '0' && (
            <Button
              kind="quiet"
              onClick={() =>
                void navigate({
                  to: '/agents',
                  search: { ...shown, status: 'active,paused,revoked' },
                })
              }
            >
              {hidden === undefined ? 'Show revoked' : `Show revoked (${hidden})`}
            </Button>
          )}
          <ExportCsv name="agents" columns={CSV} fetch={fetchPage} />
          <StopButton />
          {make}
        </>
      }
    >
      <Views screen="agents" to="/agents" search={shown} />
      <Filters filters={FILTERS} search={shown} to="/agents" keep={SORTING_PARAMS} />
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading lines={8} />}
      {list.isSuccess &&
        (list.rows.length > 0 ? (
          <Card flush>
            <Table
              label="Agents"
              columns={columns}
              rows={list.rows}
              keyOf={(each) => each.id}
              sorting={sorting}
            />
            <LoadMore query={list} />
          </Card>
        ) : (
          <Card>
            {is_filtered ? (
              <Empty
                title="No agents match these filters"
                action={
                  <Link to="/agents" search={{}}>
                    Show all agents
                  </Link>
                }
              />
            ) : (
              <Empty title="No agents yet">
                <p>An agent is a program that spends. Create one, set its policy, and give it an API key.</p>
              </Empty>
            )}
          </Card>
        ))}
    </Page>
  );
}
