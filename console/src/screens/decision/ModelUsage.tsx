import type { Decision, ModelUsageLine } from '@purser/sdk';
import { Fragment } from 'react';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card } from '../../components/Page.tsx';
import { type Column, Table } from '../../components/Table.tsx';
import { formatCount } from '../../lib/money.ts';
import { visible } from '../../lib/visible.ts';
import styles from './DecisionPage.module.css';
import { useOutcomes } from './Outcomes.tsx';

/** The address of a source, where it is one that a browser may follow. Its host may break before each dot: columns are narrow. */
function Source({ source }: { source: string }) {
  return /^https:\/\//.test(source) && URL.canParse(source) ? (
    <a href={source} target="_blank" rel="noopener noreferrer">
      {new URL(source).hostname.split(/(?=\.)/).map((part, i, all) => (
        <Fragment key={all.slice(0, i).join('')}>
          {i > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </a>
  ) : (
    visible(source)
  );
}

const columnsOf = (currency: string): readonly Column<ModelUsageLine>[] => [
  { name: 'Model', heading: true, wrap: 'narrow', cell: ({ model }) => visible(model) },
  {
    name: 'Calls',
    number: true,
    cell: ({ calls, uncertain_calls }) => (
      <>
        {formatCount(calls)}
        {uncertain_calls > 0 && <div className={styles.sub}>{formatCount(uncertain_calls)} uncertain</div>}
      </>
    ),
  },
  {
    name: 'Input',
    number: true,
    cell: ({ input_tokens, cached_input_tokens, cache_write_tokens }) => (
      <>
        {formatCount(input_tokens)}
        {cached_input_tokens > 0 && (
          <div className={styles.sub}>{formatCount(cached_input_tokens)} cached</div>
        )}
        {cache_write_tokens > 0 && (
          <div className={styles.sub}>{formatCount(cache_write_tokens)} cache write</div>
        )}
      </>
    ),
  },
  { name: 'Output', number: true, cell: ({ output_tokens }) => formatCount(output_tokens) },
  {
    name: 'Cost',
    number: true,
    // Finer than a minor unit, so it is shown as the gateway reported it.
    cell: ({ amount }) => `${currency} ${amount}`,
  },
  {
    name: 'Price source',
    wrap: 'narrow',
    cell: ({ price }) =>
      price === undefined ? (
        'No known price'
      ) : (
        <>
          <Source source={price.source} />
          <div className={styles.sub}>As of {price.as_of}</div>
        </>
      ),
  },
];

/** The calls that the money of a lease was spent on, by model, as its gateway reported them. */
export function ModelUsage({ decision }: { decision: Decision }) {
  const { decision_id, currency } = decision;
  const query = useOutcomes(decision_id);
  const lines = query.data?.flatMap(({ usage = [] }) => usage) ?? [];
  return (
    <Card title="Model usage">
      {query.isError && query.data === undefined && (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.data !== undefined && lines.length === 0 && (
        <p>
          No usage reported for this lease. A gateway reports calls with the first lease that it gives back.
        </p>
      )}
      {lines.length > 0 && (
        <Table
          label="Model usage"
          columns={columnsOf(currency)}
          rows={lines}
          keyOf={(line) => String(lines.indexOf(line))}
        />
      )}
    </Card>
  );
}
