import { InvalidRequestError, type Simulation } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { StateBadge } from '../../components/Badge.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Loading } from '../../components/Page.tsx';
import { Table } from '../../components/Table.tsx';
import { Money, Time } from '../../components/Value.tsx';
import { cx } from '../../lib/cx.ts';
import { type ChangedDecision, KINDS, type Kind, matrixOf, wronglyChanged } from '../../lib/simulation.ts';
import { visible } from '../../lib/visible.ts';
import { reasonWords, words } from '../../lib/words.ts';
import styles from './Authority.module.css';
import type { EditorSimulation } from './use-simulation.ts';

/** Severity of a decision. A change to a higher one is stricter. */
const GRAVITY: Record<Kind, number> = { ALLOW: 0, REVIEW: 1, DENY: 2 };

/** The result of the simulation, with the choice of the decisions that it replays. */
export function SimulationCard({
  simulation: { query, limit, setLimit, days, setDays, is_empty, is_old },
  currency,
}: {
  simulation: EditorSimulation;
  currency: string;
}) {
  return (
    <Card
      title="Simulation on past requests"
      aside={
        <SelectField
          label="Number of past decisions"
          hideLabel
          value={limit}
          onValue={setLimit}
          options={[
            ['100', 'Last 100'],
            ['500', 'Last 500'],
            ['2000', 'Last 2000'],
            ['10000', 'Last 10,000'],
            ['50000', 'Last 50,000'],
          ]}
        />
      }
    >
      <details className={styles.more}>
        <summary>{periodInWords(days)}</summary>
        <div className={styles.period}>
          <TextField
            label="From"
            type="date"
            value={days.from}
            onValue={(from) => setDays((before) => ({ ...before, from }))}
          />
          <TextField
            label="To (inclusive)"
            type="date"
            value={days.to}
            onValue={(to) => setDays((before) => ({ ...before, to }))}
          />
        </div>
      </details>
      {query.isError && !(query.error instanceof InvalidRequestError) && (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.error instanceof InvalidRequestError && <p className={styles.status}>{query.error.message}</p>}
      {query.isLoading && <Loading lines={5} />}
      {is_empty && (
        <p className={styles.status}>
          As you type, this shows how the policy would have decided the agent’s past requests.
        </p>
      )}
      {query.data !== undefined && (
        <div
          className={cx(is_old && styles.stale)}
          aria-busy={is_old}
          style={{ display: 'grid', gap: '0.9rem', gridTemplateColumns: 'minmax(0, 1fr)' }}
        >
          <Result simulation={query.data} currency={currency} />
        </div>
      )}
      <p className="visually-hidden" role="status">
        {query.data !== undefined && !is_old && `Replayed ${query.data.evaluated} decisions.`}
      </p>
    </Card>
  );
}

function Result({ simulation, currency }: { simulation: Simulation; currency: string }) {
  const { evaluated, skipped, current, draft, transitions, changed } = simulation;
  const { stopped_wrongly, passed_wrongly } = wronglyChanged(simulation);
  const matrix = matrixOf(simulation);
  const moves = transitions.filter((each) => each.from !== each.to);
  if (evaluated === 0) {
    return <p>This agent has no past requests in this currency to simulate.</p>;
  }
  const sums: [string, number, number][] = [
    ['Allow', current.allow, draft.allow],
    ['Review', current.review, draft.review],
    ['Deny', current.deny, draft.deny],
  ];
  return (
    <>
      <div className={styles.two}>
        <div className={styles.number} data-some={stopped_wrongly > 0 ? 'bad' : undefined}>
          <strong>{stopped_wrongly}</strong>
          <span>labelled as fitting, but would be stopped</span>
        </div>
        <div className={styles.number} data-some={passed_wrongly > 0 ? 'bad' : undefined}>
          <strong>{passed_wrongly}</strong>
          <span>labelled as against the purpose, but would pass</span>
        </div>
      </div>
      <dl className={styles.sums}>
        {sums.map(([name, before, after]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {after} {after !== before && <span className={styles.was}>was {before}</span>}
            </dd>
          </div>
        ))}
        <div>
          <dt>Authorized</dt>
          <dd>
            <Money amount_minor={draft.authorized_minor} currency={currency} />
            {draft.authorized_minor !== current.authorized_minor && (
              <span className={styles.was}>
                {' '}
                was <Money amount_minor={current.authorized_minor} currency={currency} />
              </span>
            )}
          </dd>
        </div>
      </dl>
      <table className={styles.matrix}>
        <caption>
          {evaluated} decisions
          {skipped.length > 0 &&
            ` (${skipped.reduce((sum, each) => sum + each.count, 0)} in other currencies left out)`}
          : before (rows) → after (columns)
        </caption>
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">Before</span>
            </th>
            {KINDS.map((to) => (
              <th key={to} scope="col" style={{ textAlign: 'center' }}>
                {words(to)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {KINDS.map((from) => (
            <tr key={from}>
              <th scope="row">{words(from)}</th>
              {KINDS.map((to) => (
                <td key={to} data-tone={toneOf(from, to, matrix[from][to])}>
                  {matrix[from][to]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {moves.length > 0 && (
        <p className={styles.status}>
          {moves.map(({ from, to, amount_minor }, i) => (
            <span key={`${from}${to}`}>
              {i > 0 && ' · '}
              {words(from)} → {words(to)}: <Money amount_minor={amount_minor} currency={currency} />
            </span>
          ))}
        </p>
      )}
      {changed.length === 0 ? (
        <p>No past decision would change.</p>
      ) : (
        <div className={styles.changed}>
          <Table<ChangedDecision>
            label="Decisions that would change"
            rows={changed}
            keyOf={(each) => each.decision_id}
            columns={[
              {
                name: 'Merchant',
                heading: true,
                wrap: true,
                cell: (each) => (
                  <>
                    <Link to={`/decisions/${each.decision_id}`}>{visible(each.merchant)}</Link>
                    <div className={styles.was}>
                      {reasonsInWords(each)} · <Time at={each.created_at} />
                    </div>
                  </>
                ),
              },
              {
                name: 'Amount',
                number: true,
                cell: (each) => <Money amount_minor={each.amount_minor} currency={currency} />,
              },
              {
                name: 'Before → after',
                cell: (each) => (
                  <span>
                    <StateBadge state={each.current.decision} /> <span aria-hidden="true">→</span>{' '}
                    <StateBadge state={each.draft.decision} />
                    {each.label && (
                      <div>
                        <StateBadge state={each.label} />
                      </div>
                    )}
                  </span>
                ),
              },
            ]}
          />
        </div>
      )}
    </>
  );
}

function periodInWords({ from, to }: { from: string; to: string }): string {
  if (from === '' && to === '') return 'All days';
  return ['Days', from !== '' && `from ${from}`, to !== '' && `to ${to}`].filter(Boolean).join(' ');
}

/** The first reason before and after. */
function reasonsInWords({ current, draft }: ChangedDecision): string {
  const [was, is] = [reasonWords(current.reason_code), reasonWords(draft.reason_code)];
  return was === is ? is : `${was} → ${is}`;
}

function toneOf(from: Kind, to: Kind, count: number): 'tighter' | 'looser' | undefined {
  if (from === to || count === 0) return undefined;
  return GRAVITY[to] > GRAVITY[from] ? 'tighter' : 'looser';
}
