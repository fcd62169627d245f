import type { Decision, Spending } from '@purser/sdk';
import { useTotals } from '../../api/totals.ts';
import type { Place } from '../../components/AgentTabs.tsx';
import { KindLegend } from '../../components/charts/kinds.tsx';
import StackedBars from '../../components/charts/StackedBars.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Loading } from '../../components/Page.tsx';
import type { Search } from '../../lib/search.ts';
import { words } from '../../lib/words.ts';
import styles from './Decisions.module.css';
import { countedDays, type DayCounts, daysOfRows } from './decision-days.ts';
import { useCounts } from './use-counts.ts';

const DAY_MS = 86_400_000;

/** Decisions by day from the service's counts. */
export function CountedBars({ filters, place }: { filters: Search; place: Place }) {
  const asked: Search = { ...filters, ...place.fixed };
  const { data, isError, error, refetch } = useCounts(asked);
  const is_whole = filters.mode === undefined && filters.decision === undefined;
  const period = { from: data?.from ?? '', to: data?.to ?? '', agent: asked.agent };
  const totals = useTotals(period, { enabled: is_whole && data !== undefined });
  if (isError) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={6} />;
  // Amounts are known of both modes and all kinds together.
  const last = new Date(Date.parse(data.to) - DAY_MS / 2).toISOString().slice(0, 10);
  return (
    <Bars
      days={countedDays(data.by_day, filters)}
      totals={is_whole ? totals : undefined}
      span={{ from: data.from.slice(0, 10), to: last }}
      filters={filters}
      place={place}
      scope={filters.from === undefined ? 'Last 30 days' : 'Selected period'}
    />
  );
}

/** Decisions by day from the loaded rows, for filters that the service does not count. */
export function RowBars({
  rows,
  filters,
  place,
}: {
  rows: readonly Decision[];
  filters: Search;
  place: Place;
}) {
  return (
    <Bars
      days={daysOfRows(rows)}
      filters={filters}
      place={place}
      scope={rows.length === 1 ? '1 loaded decision' : `${rows.length} loaded decisions`}
    />
  );
}

function Bars({
  days,
  totals,
  span,
  filters,
  place,
  scope,
}: {
  days: readonly DayCounts[];
  totals?: Spending['totals'] | undefined;
  span?: { from: string; to: string };
  filters: Search;
  place: Place;
  /** The decisions that the chart covers. */
  scope: string;
}) {
  const sum = (kind: 'allow' | 'review' | 'deny') => days.reduce((all, each) => all + each[kind], 0);
  const { from: _from, to: _to, ...others } = filters;
  return (
    <Card title="Decisions by day" aside={<KindLegend />}>
      <p className={styles.said}>
        {scope}:{' '}
        {(['allow', 'review', 'deny'] as const)
          .map((kind) => `${words(kind.toUpperCase())} ${sum(kind).toLocaleString('en-US')}`)
          .join(', ')}
        . Days are in UTC. Select a bar to see its decisions.
      </p>
      <StackedBars days={days} totals={totals} {...span} search={others} path={place.path} />
    </Card>
  );
}
