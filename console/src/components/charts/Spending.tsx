import type { Spending as SpendingAnswer } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { formatMoney } from '../../lib/money.ts';
import { utcDay } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { ErrorNotice } from '../Notice.tsx';
import { AgentName } from '../names/AgentName.tsx';
import { BudgetName } from '../names/BudgetName.tsx';
import { Card, Loading } from '../Page.tsx';
import { Table } from '../Table.tsx';
import { Sparkline } from './Sparkline.tsx';
import styles from './Spending.module.css';
import { Switch } from './Switch.tsx';

type Part = SpendingAnswer['parts'][number];

const DAYS = 30;
const BY = { Merchant: 'merchant', Agent: 'agent', Budget: 'budget' } as const;

/** The change to the period before, in words. */
function changeOf({ amount_minor, before }: Part): string {
  if (before.amount_minor === 0) return 'new';
  const percent = Math.round((amount_minor / before.amount_minor - 1) * 100);
  return percent === 0
    ? 'unchanged'
    : `${percent > 0 ? '+' : '−'}${Math.abs(percent).toLocaleString('en-US')} %`;
}

/** The requested amounts of the last days by merchant or agent: the largest, over time, with the change to the days before. */
export default function SpendingCard({ agent }: { agent?: string }) {
  const [by, setBy] = useState<keyof typeof BY>('Merchant');
  const [chosen, setCurrency] = useState<string | null>(null);
  const [from, to] = [utcDay(Date.now(), 1 - DAYS), utcDay(Date.now())];
  const query = useQuery({
    queryKey: ['overview', 'spending', from, to, by, agent],
    queryFn: async () =>
      purser.reports.spending({ from, to, by: BY[by], ...(agent === undefined ? {} : { agent }) }),
    placeholderData: (before) => before,
  });
  const currencies = query.data?.totals.map(({ currency }) => currency) ?? [];
  const currency = chosen !== null && currencies.includes(chosen) ? chosen : currencies[0];
  const rows = query.data?.parts.filter((each) => each.currency === currency) ?? [];
  const search = (part: Part): Record<string, string> => ({
    [query.data?.by ?? 'merchant']: part.name,
    ...(agent === undefined ? {} : { agent }),
    from,
  });
  return (
    <Card title="Largest amounts" flush={currency !== undefined}>
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading lines={6} />}
      {query.isSuccess && currency === undefined && <p>No requests in this period.</p>}
      {currency !== undefined && (
        <>
          <div className={styles.head}>
            {agent === undefined && (
              <Switch
                label="Divided by"
                options={Object.keys(BY)}
                value={by}
                onValue={(value) => setBy(value as keyof typeof BY)}
              />
            )}
            {currencies.length > 1 && (
              <Switch label="Currency" options={currencies} value={currency} onValue={setCurrency} />
            )}
            <p>
              Requested in the last {DAYS} days (UTC), as decided then, and the change to the {DAYS} days
              before.
              {by === 'Budget' && ' A budget has the requests of the agents whose policy names it now.'}
            </p>
          </div>
          {rows.length === 0 && (
            <p className={styles.none}>No agent with these requests names a shared budget.</p>
          )}
          {rows.length > 0 && (
            <Table<Part>
              label="Largest amounts"
              rows={rows}
              keyOf={(each) => each.name}
              columns={[
                {
                  name:
                    (Object.keys(BY) as (keyof typeof BY)[]).find((each) => BY[each] === query.data?.by) ??
                    by,
                  heading: true,
                  wrap: true,
                  cell: (each) =>
                    query.data?.by === 'budget' ? (
                      <Link to="/budgets">
                        <BudgetName slug={each.name} />
                      </Link>
                    ) : (
                      <Link to="/decisions" search={search(each)}>
                        {query.data?.by === 'agent' ? (
                          <AgentName of={{ slug: each.name }} />
                        ) : (
                          visible(each.name)
                        )}
                      </Link>
                    ),
                },
                {
                  name: 'Over time',
                  cell: (each) => (
                    <Sparkline
                      days={each.by_day.map(({ day, allow, review, deny }) => ({
                        day,
                        count: allow.amount_minor + review.amount_minor + deny.amount_minor,
                      }))}
                      from={from}
                      to={to}
                      inWords={(value) => formatMoney(value, each.currency)}
                      hideSum
                    />
                  ),
                },
                {
                  name: 'Requested',
                  number: true,
                  cell: (each) => formatMoney(each.amount_minor, each.currency),
                },
                {
                  name: 'Allowed',
                  number: true,
                  cell: (each) => formatMoney(each.allow.amount_minor, each.currency),
                },
                { name: 'Change', number: true, cell: changeOf },
              ]}
            />
          )}
        </>
      )}
    </Card>
  );
}
