import type { Decision, DecisionListQuery } from '@purser/sdk';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { useList } from '../../api/lists.ts';
import { usePlace } from '../../components/AgentTabs.tsx';
import { DecisionBadges, StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Filters } from '../../components/Filters.tsx';
import { FirstDecision } from '../../components/FirstSteps.tsx';
import { NewRows } from '../../components/list/NewRows.tsx';
import { BY_TIME, useSorting } from '../../components/list/use-sorting.tsx';
import { Views } from '../../components/list/Views.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { type Column, LoadMore, Table } from '../../components/Table.tsx';
import { Money, Time } from '../../components/Value.tsx';
import { downloadStreamed } from '../../lib/download.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { pick, type Search, stringifySearch } from '../../lib/search.ts';
import { visible } from '../../lib/visible.ts';
import { reasonWords } from '../../lib/words.ts';
import { CountedBars, RowBars } from './Bars.tsx';
import styles from './Decisions.module.css';
import { isCounted } from './decision-days.ts';
import { ExportForPeople } from './ExportForPeople.tsx';
import { Facets } from './Facets.tsx';
import { FILTERS, SYSTEM_VIEWS } from './filters.ts';

const COLUMNS: readonly Column<Decision>[] = [
  { name: 'Time', sort: BY_TIME, cell: (each) => <Time at={each.created_at} /> },
  {
    name: 'Merchant',
    heading: true,
    wrap: true,
    cell: (each) => (
      <>
        <Link to={`/decisions/${each.decision_id}`}>{visible(each.action.merchant)}</Link>
        <span className={styles.agent}>
          <AgentName of={each.agent} />
        </span>
      </>
    ),
  },
  {
    name: 'Amount',
    number: true,
    cell: (each) => <Money amount_minor={each.requested_amount_minor} currency={each.currency} />,
  },
  {
    name: 'Decision',
    cell: (each) => <DecisionBadges decision={each.decision} effective={each.effective_decision} />,
  },
  { name: 'Reason', cell: (each) => reasonWords(each.reason_code) },
  {
    name: 'Status',
    cell: ({ review_state, label, outcome_state }) => {
      const states = [review_state, label?.label, outcome_state === 'NONE' ? null : outcome_state];
      const shown = states.filter((state) => state != null);
      return (
        shown.length > 0 && (
          <span className={styles.since}>
            {shown.map((state) => (
              <StateBadge key={state} state={state} />
            ))}
          </span>
        )
      );
    },
  },
];

/** URL parameters that are not filters. */
const KEPT = ['live', 'view'] as const;

export default function Decisions() {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const place = usePlace('decisions');
  const sorting = useSorting(place.path);
  const of_agent = place.fixed.agent !== undefined;
  const shown = of_agent ? FILTERS.filter(({ param }) => param !== 'agent') : FILTERS;
  const filters = pick(
    search,
    shown.map(({ param }) => param),
  ) as Search;
  const asked = { ...filters, ...place.fixed };
  const kept = pick(search, KEPT) as Search;
  const is_live = kept.live === '1';
  const toggled = (name: (typeof KEPT)[number], value: string): Search => {
    const { [name]: before, ...others } = kept;
    return before === undefined ? { ...others, [name]: value } : others;
  };
  const is_bars = kept.view === 'bars';
  const is_counted = is_bars && isCounted(filters);
  const list = useList<Decision>(
    ['decisions', 'list', asked],
    (page) => purser.decisions.list({ ...asked, ...page } as DecisionListQuery),
    { mode: 'counted', idOf: (each) => each.decision_id, is_newest_first: filters.order !== 'asc' },
  );
  const exporting = useAction(() =>
    downloadStreamed(`/v1/decisions/export${stringifySearch({ format: 'csv', ...asked })}`),
  );
  const is_filtered = Object.keys(filters).length > 0;
  return (
    <Page
      title="Decisions"
      above={place.above}
      width="wide"
      actions={
        <>
          <Button
            aria-pressed={is_live}
            onClick={() => void navigate({ to: place.path, search: { ...filters, ...toggled('live', '1') } })}
          >
            {is_live ? '● Live' : 'Live'}
          </Button>
          <Button
            aria-pressed={is_bars}
            onClick={() =>
              void navigate({ to: place.path, search: { ...filters, ...toggled('view', 'bars') } })
            }
          >
            Bars
          </Button>
          <Button busy={exporting.busy} onClick={() => void exporting.run()}>
            Export CSV
          </Button>
          <ExportForPeople filters={asked} />
        </>
      }
    >
      {place.tabs}
      {exporting.error !== null && <ErrorNotice error={exporting.error} />}
      <Views
        screen="decisions"
        to={place.path}
        search={filters}
        built_in={SYSTEM_VIEWS}
        // Saved views may filter by agent, so they belong to the workspace's list.
        may_save={!of_agent}
      />
      <Filters filters={shown} search={{ ...filters, ...kept }} to={place.path} keep={KEPT}>
        <Facets filters={filters} kept={kept} place={place} rows={list.rows} has_more={list.hasNextPage} />
      </Filters>
      {is_counted && <CountedBars filters={filters} place={place} />}
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && !is_counted && <Loading lines={10} />}
      {!is_counted && <NewRows list={list} />}
      {list.isSuccess &&
        !is_counted &&
        (list.rows.length > 0 && is_bars ? (
          <>
            <RowBars rows={list.rows} filters={filters} place={place} />
            <LoadMore query={list} />
          </>
        ) : list.rows.length > 0 ? (
          <Card flush>
            <Table
              label="Decisions"
              columns={COLUMNS}
              rows={list.rows}
              keyOf={(each) => each.decision_id}
              sorting={sorting}
            />
            <LoadMore query={list} />
          </Card>
        ) : (
          <Card>
            {is_filtered ? (
              <Empty
                title={
                  list.hasNextPage ? 'No matching decisions found so far' : 'No decisions match these filters'
                }
                action={
                  <Link to={place.path} search={{}}>
                    Show all decisions
                  </Link>
                }
              />
            ) : (
              <FirstDecision {...place.fixed} />
            )}
            <LoadMore query={list} />
          </Card>
        ))}
    </Page>
  );
}
