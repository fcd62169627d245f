import type { Decision } from '@purser/sdk';
import type { Place } from '../../components/AgentTabs.tsx';
import { KindLegend, StackedBars } from '../../components/Charts.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Loading } from '../../components/Page.tsx';
import type { Search } from '../../lib/search.ts';
import { words } from '../../lib/words.ts';
import styles from './Decisions.module.css';
import { countedDays, type DayCounts, daysOfRows } from './decision-days.ts';
import { useCounts } from './use-counts.ts';

const DAY_MS = 86_400_000;

/** The decisions of a time by day, from what the service has counted. */
export function CountedBars({ filters, place }: { filters: Search; place: Place }) {
  const { data, isError, error, refetch } = useCounts({ ...filters, ...place.fixed });
  if (isError) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={6} />;
  const last = new Date(Date.parse(data.to) - DAY_MS / 2).toISOString().slice(0, 10);
  return (
    <Bars
      days={countedDays(data.by_day, filters)}
      span={{ from: data.from.slice(0, 10), to: last }}
      filters={filters}
      place={place}
      said={filters.from === undefined ? '30 days' : 'All of this time'}
    />
  );
}

/** The same of rows that were read, where the service has counted nothing. */
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
      said={rows.length === 1 ? 'The 1 that was read so far' : `The ${rows.length} that were read so far`}
    />
  );
}

function Bars({
  days,
  span,
  filters,
  place,
  said,
}: {
  days: readonly DayCounts[];
  span?: { from: string; to: string };
  filters: Search;
  place: Place;
  /** Which decisions these are. */
  said: string;
}) {
  const sum = (kind: 'allow' | 'review' | 'deny') => days.reduce((all, each) => all + each[kind], 0);
  const { from: _from, to: _to, ...others } = filters;
  return (
    <Card title="Decisions by day" aside={<KindLegend />}>
      <p className={styles.said}>
        {said}:{' '}
        {(['allow', 'review', 'deny'] as const)
          .map((kind) => `${words(kind.toUpperCase())} ${sum(kind).toLocaleString('en-US')}`)
          .join(', ')}
        . Days are UTC; a bar leads to its decisions.
      </p>
      <StackedBars days={days} {...span} search={others} path={place.path} />
    </Card>
  );
}
