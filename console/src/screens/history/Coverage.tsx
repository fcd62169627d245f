import type { CoverageReport, Line } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useCoverage, useLinesIn } from '../../api/coverage.ts';
import { useAgentChoices } from '../../api/history.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { Badge, type Tone } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { SelectField } from '../../components/Field.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { type Column, Table } from '../../components/Table.tsx';
import { Money, Time } from '../../components/Value.tsx';
import { formatCount } from '../../lib/money.ts';
import { visible } from '../../lib/visible.ts';
import styles from './Coverage.module.css';
import { ResolveLine, type Said } from './ResolveLine.tsx';

type State = NonNullable<Line['coverage']>['state'];
type Sums = CoverageReport['totals'][number];

const STATES: Readonly<Record<State, readonly [words: string, tone: Tone]>> = {
  NEVER_ASKED: ['Never asked', 'deny'],
  REFUSED: ['Not allowed', 'deny'],
  LATE: ['Asked late', 'review'],
  WAITING: ['Waiting', 'idle'],
  ASKED: ['Asked', 'allow'],
  EXCLUDED: ['Excluded', 'idle'],
  UNASSIGNED: ['Of no agent', 'idle'],
  HISTORY: ['Before its agent', 'idle'],
};
const CHOICES = (Object.keys(STATES) as State[]).map((state) => [state, STATES[state][0]] as const);

const percent = (share: number | null) => (share === null ? '–' : `${Math.floor(share * 1000) / 10} %`);

export default function Coverage() {
  const [agent, setAgent] = useState('');
  const [state, setState] = useState<State>('NEVER_ASKED');
  const agents = useAgentChoices();
  const choices = (agents.data ?? []).map(({ slug, name }) => [slug, visible(name)] as const);
  return (
    <Page
      title="Coverage"
      lead="How much of what was paid was asked for: each line of a file or a payment rail beside the requests of its agent."
    >
      <div className={styles.filters}>
        <SelectField label="Agent" value={agent} onValue={setAgent} options={[['', 'All'], ...choices]} />
        <SelectField
          label="State"
          value={state}
          onValue={(value) => setState(value as State)}
          options={CHOICES}
        />
      </div>
      <Totals agent={agent} />
      <Lines state={state} agent={agent} />
    </Page>
  );
}

const sumOf = (name: Exclude<keyof Sums, 'currency' | 'asked_share' | 'asked_share_lines'>, words: string) =>
  ({
    name: words,
    number: true,
    cell: (each: Sums) =>
      each[name].lines === 0 ? (
        '–'
      ) : (
        <span title={`${formatCount(each[name].lines)} lines`}>
          <Money amount_minor={each[name].amount_minor} currency={each.currency} />
        </span>
      ),
  }) satisfies Column<Sums>;

const SUMS: readonly Column<Sums>[] = [
  { name: 'Asked share', number: true, cell: (each) => percent(each.asked_share) },
  sumOf('asked', 'Asked'),
  sumOf('late', 'Asked late'),
  sumOf('refused', 'Not allowed'),
  sumOf('never_asked', 'Never asked'),
  sumOf('waiting', 'Waiting'),
  sumOf('excluded', 'Excluded'),
];
type AgentSums = CoverageReport['by_agent'][number];

function Totals({ agent }: { agent: string }) {
  const query = useCoverage(agent);
  if (query.isError && query.data === undefined)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <Loading lines={4} />;
  const { totals, by_agent, unassigned, deleted_imports } = query.data;
  if (totals.length === 0 && unassigned === 0)
    return (
      <Card title="Totals">
        <Empty title="No lines to compare">
          <p>
            Import a file of what was paid since your agents were created, on{' '}
            <Link to={'/history' as string}>History</Link>.
          </p>
        </Empty>
      </Card>
    );
  return (
    <>
      <Card title="Totals" flush>
        <Table
          label="Totals"
          rows={totals}
          keyOf={(each) => each.currency}
          columns={[{ name: 'Currency', heading: true, cell: (each) => each.currency }, ...SUMS]}
        />
      </Card>
      {by_agent.length > 1 && (
        <Card title="By agent" flush>
          <Table
            label="By agent"
            rows={by_agent}
            keyOf={(each) => `${each.agent.id} ${each.currency}`}
            columns={[
              { name: 'Agent', heading: true, cell: (each: AgentSums) => <AgentName of={each.agent} /> },
              ...(SUMS as readonly Column<AgentSums>[]),
            ]}
          />
        </Card>
      )}
      {(unassigned > 0 || deleted_imports > 0) && (
        <p>
          {[
            ...(unassigned > 0 ? [`Lines of no agent: ${formatCount(unassigned)}.`] : []),
            ...(deleted_imports > 0 ? [`Imports that were deleted: ${formatCount(deleted_imports)}.`] : []),
          ].join(' ')}
        </p>
      )}
    </>
  );
}

/** Returns the statements that a line in its state allows. */
function sayable(line: Line): readonly (readonly [said: Said, words: string])[] {
  const state = line.coverage?.state;
  if (state === undefined) return [];
  if (state === 'EXCLUDED') return [['INCLUDE', 'Include']];
  return [
    ...(line.agent === null ? [] : [['MATCH', 'Match'] as const]),
    ...(line.coverage?.decision_id == null ? [] : [['UNMATCH', 'Unmatch'] as const]),
    ['EXCLUDE', 'Exclude'],
  ];
}

const COLUMNS: readonly Column<Line>[] = [
  { name: 'Merchant', heading: true, wrap: true, cell: (each) => visible(each.merchant) },
  {
    name: 'Amount',
    number: true,
    cell: (each) => <Money amount_minor={each.amount_minor} currency={each.currency} />,
  },
  { name: 'Time', cell: (each) => <Time at={each.occurred_at} /> },
  {
    name: 'Agent',
    short: true,
    cell: ({ agent }) => (agent === null ? '–' : <AgentName of={agent} />),
  },
  { name: 'Feed', short: true, cell: (each) => <span title={each.feed}>{each.feed}</span> },
  {
    name: 'State',
    cell: (each) => {
      const [words, tone] = STATES[each.coverage?.state ?? 'WAITING'];
      return <Badge tone={tone}>{words}</Badge>;
    },
  },
  {
    name: 'Request',
    cell: ({ coverage }) =>
      coverage?.decision_id == null ? (
        '–'
      ) : (
        <Link to={`/decisions/${coverage.decision_id}` as string}>
          {coverage.rule === null ? 'By a person' : `By ${coverage.rule.toLowerCase()}`}
        </Link>
      ),
  },
];

function Lines({ state, agent }: { state: State; agent: string }) {
  const query = useLinesIn(state, agent);
  const may = useMay('review');
  const [asked, setAsked] = useState<{ said: Said; line: Line } | null>(null);
  if (query.isError && query.data === undefined)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <Loading lines={6} />;
  return (
    <Card title="Lines" flush={query.data.length > 0}>
      {query.data.length === 0 ? (
        <Empty title={`No lines in the state “${STATES[state][0]}”`}>
          <p>Choose another state to see its lines.</p>
        </Empty>
      ) : (
        <Table
          label="Lines"
          rows={query.data}
          keyOf={(each) => each.line_id}
          columns={[
            ...COLUMNS,
            {
              name: 'Actions',
              hideName: true,
              cell: (each) => (
                <span className={styles.actions}>
                  {sayable(each).map(([said, words]) => (
                    <Button
                      key={said}
                      small
                      aria-label={`${words} ${visible(each.merchant)}`}
                      why={!may && WHY_NOT.review}
                      onClick={() => setAsked({ said, line: each })}
                    >
                      {words}
                    </Button>
                  ))}
                </span>
              ),
            },
          ]}
        />
      )}
      {asked !== null && <ResolveLine {...asked} onClose={() => setAsked(null)} />}
    </Card>
  );
}
