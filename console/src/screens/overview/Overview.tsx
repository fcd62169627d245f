import type { AgentWithBudgets, Overview as OverviewAnswer } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { purser } from '../../api/client.ts';
import { useMay, workspaceQuery } from '../../api/queries.ts';
import { useTotals } from '../../api/totals.ts';
import { BudgetLine } from '../../components/AgentBudget.tsx';
import { buttonClass } from '../../components/Button.tsx';
import { KindLegend } from '../../components/charts/kinds.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Loading, Page } from '../../components/Page.tsx';
import { StopButton } from '../../components/Stop.tsx';
import { Countdown, Money, Time } from '../../components/Value.tsx';
import { utcDay } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { reasonWords } from '../../lib/words.ts';
import { FirstSteps, Start, useSteps } from './FirstSteps.tsx';
import styles from './Overview.module.css';
import { SystemStatus } from './SystemStatus.tsx';

/** Not part of what is loaded first, which stays light. */
const StackedBars = lazy(() => import('../../components/charts/StackedBars.tsx'));
const SpendingCard = lazy(() => import('../../components/charts/Spending.tsx'));

const DAYS = 30;

export default function Overview() {
  const workspace = useQuery(workspaceQuery).data;
  const steps = useSteps();
  // Without an agent nothing else has anything to show.
  const is_empty = steps?.[0]?.is_done === false;
  return (
    <Page
      title="Overview"
      actions={!is_empty && <StopButton />}
      lead={!is_empty && workspace && `${workspace.name}. All agents, last ${DAYS} days (UTC).`}
    >
      {is_empty ? <Start /> : <Summary steps={steps} />}
    </Page>
  );
}

function Summary({ steps }: { steps: ReturnType<typeof useSteps> }) {
  const from = utcDay(Date.now(), 1 - DAYS);
  const to = utcDay(Date.now());
  const overview = useQuery({
    queryKey: ['overview', from, to],
    queryFn: async () => purser.reports.overview({ from, to }),
  });
  const { data } = overview;
  const totals = useTotals({ from, to });
  return (
    <>
      <FirstSteps steps={steps} />
      {overview.isError && <ErrorNotice error={overview.error} onRetry={() => void overview.refetch()} />}
      <div className={styles.top}>
        <Card title="Pending review">
          {data === undefined ? <Loading lines={6} /> : <Pending {...data.pending_reviews} />}
        </Card>
        <Card title="System status">
          <SystemStatus
            last_verification={data?.last_verification}
            failing_channels={data?.failing_channels ?? []}
          />
        </Card>
      </div>
      <Card title="Decisions by day" aside={<KindLegend />}>
        {data === undefined ? (
          <Loading lines={8} />
        ) : (
          <Suspense fallback={<Loading lines={8} />}>
            <StackedBars days={data.by_day} totals={totals} from={from} to={to} />
          </Suspense>
        )}
      </Card>
      <Suspense
        fallback={
          <Card title="Largest amounts">
            <Loading lines={8} />
          </Card>
        }
      >
        <SpendingCard />
      </Suspense>
      <div className={styles.top}>
        <Card title="Budgets this month" aside={<Link to="/agents">All agents</Link>}>
          <Budgets />
        </Card>
        <Card title="Top reasons">
          <TopList
            rows={data?.by_reason.map(({ reason_code, count }) => ({
              name: reasonWords(reason_code),
              search: { reason: reason_code, from },
              count,
            }))}
          />
        </Card>
        <Card title="Top merchants">
          <TopList
            rows={data?.by_merchant.map(({ merchant, count }) => ({
              name: visible(merchant),
              search: { merchant, from },
              count,
            }))}
          />
        </Card>
      </div>
    </>
  );
}

function Pending({ count, amounts, next_expires_at }: OverviewAnswer['pending_reviews']) {
  const may = useMay('review');
  const oldest = useQuery({
    queryKey: ['decisions', 'oldest-pending'],
    queryFn: async () =>
      (await purser.decisions.list({ review_state: ['PENDING'], order: 'asc', limit: 1 })).data[0] ?? null,
    enabled: count > 0,
  }).data;
  if (count === 0)
    return <p className={styles.sub}>No pending requests. Requests that need review appear in the inbox.</p>;
  return (
    <>
      <p className={styles.big}>{count}</p>
      <p className={styles.sub}>
        {amounts.map((each, i) => (
          <span key={each.currency}>
            {i > 0 && ' · '}
            <Money amount_minor={each.amount_minor} currency={each.currency} />
          </span>
        ))}
      </p>
      {oldest !== null && (
        <p className={styles.sub}>
          Oldest:{' '}
          {oldest === undefined ? (
            '…'
          ) : (
            <>
              <Link to={`/decisions/${oldest.decision_id}`}>{visible(oldest.action.merchant)}</Link>,{' '}
              <Time at={oldest.created_at} />
            </>
          )}
        </p>
      )}
      {next_expires_at !== null && (
        <p className={styles.sub}>
          Next to expire: <Countdown until={next_expires_at} />
        </p>
      )}
      <p>
        <Link to="/reviews" className={buttonClass('primary')}>
          {may ? 'Review' : 'View'}
        </Link>
      </p>
    </>
  );
}

/** The used share of an agent's budget, for sorting. */
function usedShare({ budgets }: AgentWithBudgets): number {
  const shares = budgets.map((each) =>
    each.limit_minor === null || each.limit_minor === 0
      ? 0
      : (each.committed_minor + each.held_minor) / each.limit_minor,
  );
  return Math.max(0, ...shares);
}

const SHOWN = 6;

function Budgets() {
  const query = useQuery({
    queryKey: ['agents', 'budgets'],
    queryFn: async () => (await purser.agents.list({ status: ['active', 'paused'], limit: 200 })).data,
  });
  if (query.isError && query.data === undefined)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <Loading />;
  const rows = query.data.filter((each) => each.budgets.length > 0);
  if (rows.length === 0) return <p className={styles.sub}>No spending this month.</p>;
  return (
    <ul className={styles.budgets}>
      {[...rows]
        .sort((a, b) => usedShare(b) - usedShare(a))
        .slice(0, SHOWN)
        .map((each) => (
          <li key={each.id}>
            <Link to={`/agents/${each.slug}`} title={each.name}>
              {each.name}
            </Link>
            <BudgetLine budgets={each.budgets} />
          </li>
        ))}
    </ul>
  );
}

interface Counted {
  name: string;
  /** Filters of the list with the counted decisions. */
  search: Record<string, string>;
  count: number;
}

/** The most frequent values as bars that link to their decisions. Undefined while loading. */
function TopList({ rows }: { rows: readonly Counted[] | undefined }) {
  if (rows === undefined) return <Loading />;
  if (rows.length === 0) return <p className={styles.sub}>No requests yet.</p>;
  const highest = Math.max(1, ...rows.map((each) => each.count));
  return (
    <ul className={styles.most}>
      {rows.slice(0, SHOWN).map(({ name, search, count }) => (
        <li key={name}>
          <span>
            <Link to="/decisions" search={search} title={name}>
              {name}
            </Link>
            <i className={styles.ofAll} style={{ width: `${(count / highest) * 100}%` }} aria-hidden="true" />
          </span>
          <b>{count}</b>
        </li>
      ))}
    </ul>
  );
}
