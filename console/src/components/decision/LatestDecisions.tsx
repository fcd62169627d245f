import type { Decision } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { visible } from '../../lib/visible.ts';
import { reasonWords } from '../../lib/words.ts';
import { DecisionBadges } from '../Badge.tsx';
import { Table } from '../Table.tsx';
import { Money, Time } from '../Value.tsx';

/** A short table of decisions. */
export function LatestDecisions({ rows }: { rows: readonly Decision[] }) {
  return (
    <Table<Decision>
      label="Latest decisions"
      rows={rows}
      keyOf={(each) => each.decision_id}
      columns={[
        { name: 'Time', cell: (each) => <Time at={each.created_at} /> },
        {
          name: 'Merchant',
          heading: true,
          wrap: true,
          cell: (each) => <Link to={`/decisions/${each.decision_id}`}>{visible(each.action.merchant)}</Link>,
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
      ]}
    />
  );
}
