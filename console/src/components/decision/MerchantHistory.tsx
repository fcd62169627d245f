import type { Decision, DecisionListQuery } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { words } from '../../lib/words.ts';
import { StateBadge } from '../Badge.tsx';
import { Table } from '../Table.tsx';
import { Money, Time } from '../Value.tsx';
import styles from './decision.module.css';

const LOOKED_AT = 25;

/** The agent's earlier requests at the same merchant, with their reviews, labels and outcomes. Nothing where there are none. */
export function MerchantHistory({ decision }: { decision: Decision }) {
  const { agent, action, decision_id } = decision;
  const query = { agent: agent.id, merchant: action.merchant, limit: LOOKED_AT } as DecisionListQuery;
  const { data } = useQuery({
    queryKey: ['decisions', 'past', agent.id, action.merchant],
    queryFn: async () => (await purser.decisions.list(query)).data,
  });
  if (data === undefined) return <p>Loading…</p>;
  const others = data.filter((each) => each.decision_id !== decision_id);
  const judged = others.filter((each) => each.review !== null || each.label !== null);
  if (others.length === 0) return null;
  const count = (test: (each: Decision) => boolean) => others.filter(test).length;
  const parts = [
    [count((each) => each.review?.action === 'ALLOW'), 'allowed'],
    [count((each) => each.review?.action === 'DENY'), 'denied'],
    [count((each) => each.label?.label === 'PURPOSE_ALIGNED'), 'labelled as fitting'],
    [count((each) => each.label?.label === 'PURPOSE_MISALIGNED'), 'labelled as against the purpose'],
    [count((each) => each.outcome_state === 'EXECUTED'), 'executed'],
  ] as const;
  const summary = parts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`);
  const shown = (judged.length > 0 ? judged : others).slice(0, 4);
  return (
    <>
      <p>
        {data.length === LOOKED_AT ? 'At least ' : ''}
        {others.length} earlier {others.length === 1 ? 'request' : 'requests'} here
        {summary.length > 0 ? `: ${summary.join(', ')}.` : '; none reviewed or labelled.'}
      </p>
      <Table
        label="Earlier requests"
        keyOf={(each) => each.decision_id}
        rows={shown}
        columns={[
          {
            name: 'Request',
            heading: true,
            // One below the other: beside each other they would push the review out of a narrow card.
            cell: (each) => (
              <Link to={`/decisions/${each.decision_id}`} className={styles.earlier}>
                <Money amount_minor={each.requested_amount_minor} currency={each.currency} />
                <Time at={each.created_at} />
              </Link>
            ),
          },
          {
            name: 'Review or label',
            cell: (each) =>
              each.review !== null ? (
                <>
                  <StateBadge state={each.review.action === 'ALLOW' ? 'ALLOWED' : 'DENIED'} />{' '}
                  {each.review.comment}
                </>
              ) : each.label !== null ? (
                <StateBadge state={each.label.label} />
              ) : (
                '—'
              ),
          },
          {
            name: 'Outcome',
            cell: (each) => (each.outcome_state === 'NONE' ? '—' : words(each.outcome_state)),
          },
        ]}
      />
    </>
  );
}
