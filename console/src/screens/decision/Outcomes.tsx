import type { Decision, Outcome } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { purser } from '../../api/client.ts';
import { Author } from '../../components/Author.tsx';
import { Badge, StateBadge } from '../../components/Badge.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { type Column, Table } from '../../components/Table.tsx';
import { Money, Time } from '../../components/Value.tsx';
import { words } from '../../lib/words.ts';
import styles from './DecisionPage.module.css';

/** The kind of reporter: the payment rail, a person, or a program such as the requester itself. */
function reporterOf({ source, reported_by: { key_id, principal_id } }: Outcome, requester: string): string {
  if (source === 'PAYMENT_RAIL') return 'The payment rail';
  if (key_id === null) return 'A person';
  if (key_id === requester) return 'The requester';
  return principal_id === null ? 'A client' : 'A person’s key';
}

const columnsOf = (requester: string): readonly Column<Outcome>[] => [
  { name: 'Outcome', heading: true, cell: (each) => words(each.type) },
  {
    name: 'Amount',
    number: true,
    cell: (each) =>
      each.amount_minor === null ? '' : <Money amount_minor={each.amount_minor} currency={each.currency} />,
  },
  {
    name: 'Reported by',
    wrap: true,
    cell: (each) => (
      <>
        {reporterOf(each, requester)}
        <div className={styles.sub}>
          <Author {...each.reported_by} />
        </div>
      </>
    ),
  },
  { name: 'Reference', cell: (each) => each.external_reference ?? '' },
  { name: 'When', cell: (each) => <Time at={each.occurred_at} /> },
  {
    name: 'Remarks',
    cell: (each) =>
      each.flags.map((flag) => (
        <Badge key={flag} tone="deny">
          {words(flag)}
        </Badge>
      )),
  },
];

/** The outcomes of a decision. All parts of the page that show them share one request. */
export function useOutcomes(decision_id: string) {
  return useQuery({
    queryKey: ['decision', decision_id, 'outcomes'],
    queryFn: async () => (await purser.decisions.listOutcomes(decision_id)).data,
  });
}

/** The reported outcomes, their reporters, and whether the payment rail confirms them. */
export function Outcomes({ decision }: { decision: Decision }) {
  const { decision_id, outcome_state, verified } = decision;
  const query = useOutcomes(decision_id);
  if (query.isError && query.data === undefined)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined || query.data.length === 0) {
    return <p>No outcome reported yet, so it is not known whether money moved.</p>;
  }
  return (
    <>
      <p>
        <StateBadge state={outcome_state} />{' '}
        {verified ? 'Confirmed by the payment rail.' : 'Not fully confirmed by the payment rail.'}
      </p>
      {query.data.some((each) => each.flags.includes('CONTRADICTS_CLIENT')) && (
        <Notice tone="warn" title="The client and the payment rail disagree.">
          The payment rail’s report counts.
        </Notice>
      )}
      <Table
        label="Outcomes"
        columns={columnsOf(decision.requested_by.key_id)}
        rows={query.data}
        keyOf={(each) => each.outcome_id}
      />
    </>
  );
}
