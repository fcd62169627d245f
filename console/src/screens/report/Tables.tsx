import type { ShadowReport } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { allowanceName } from '../../components/allowances/allowances.ts';
import { StateBadge } from '../../components/Badge.tsx';
import { Share } from '../../components/charts/kinds.tsx';
import { Notice } from '../../components/Notice.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { Card } from '../../components/Page.tsx';
import { type Column, Table } from '../../components/Table.tsx';
import { Money, Time } from '../../components/Value.tsx';
import type { Search } from '../../lib/search.ts';
import { visible } from '../../lib/visible.ts';
import { reasonWords } from '../../lib/words.ts';
import styles from './Report.module.css';

type Amounts = readonly { currency: string; amount_minor: number }[];

/** Sums per currency. Currencies are never added up. */
function Sums({ amounts }: { amounts: Amounts }) {
  return (
    <span className={styles.amounts}>
      {amounts.map((each) => (
        <Money key={each.currency} amount_minor={each.amount_minor} currency={each.currency} />
      ))}
    </span>
  );
}

type Counted = { count: number; allow: number; review: number; deny: number; amounts: Amounts };

const COUNTS: readonly Column<Counted>[] = [
  { name: 'Decisions', number: true, cell: (each) => each.count },
  { name: 'Allow', number: true, cell: (each) => each.allow },
  { name: 'Review', number: true, cell: (each) => each.review },
  { name: 'Deny', number: true, cell: (each) => each.deny },
  { name: 'Shares', cell: (each) => <Share counts={each} /> },
  { name: 'Requested', number: true, cell: (each) => <Sums amounts={each.amounts} /> },
];

/** Executed payments that Enforce would have stopped. */
export function Executed({ report, filters }: { report: ShadowReport; filters: Search }) {
  const { executed_although_stopped } = report.outcomes;
  if (executed_although_stopped.count === 0) return null;
  return (
    <Notice
      tone="warn"
      title={`Enforce would have stopped ${executed_although_stopped.count} executed ${executed_although_stopped.count === 1 ? 'payment' : 'payments'}.`}
      actions={
        <Link to="/decisions" search={{ ...filters, decision: 'DENY,REVIEW', outcome_state: 'EXECUTED' }}>
          See them
        </Link>
      }
    >
      {executed_although_stopped.amounts.map((each, i) => (
        <span key={each.currency}>
          {i > 0 && ', '}
          <Money amount_minor={each.amount_minor} currency={each.currency} />
        </span>
      ))}{' '}
      in total.
    </Notice>
  );
}

/** Sums by currency and decision. */
export function Totals({ report }: { report: ShadowReport }) {
  return (
    <Card title="Amounts by currency" flush>
      <Table
        label="Amounts by currency"
        rows={report.totals.by_currency}
        keyOf={(each) => each.currency}
        columns={[
          { name: 'Currency', heading: true, cell: (each) => each.currency },
          ...(['allow', 'review', 'deny'] as const).map((kind) => ({
            name: kind === 'allow' ? 'Allow' : kind === 'review' ? 'Review' : 'Deny',
            number: true,
            cell: (each: ShadowReport['totals']['by_currency'][number]) => (
              <>
                <Money amount_minor={each[kind].amount_minor} currency={each.currency} />
                <div className={styles.sub}>{each[kind].count}</div>
              </>
            ),
          })),
        ]}
      />
    </Card>
  );
}

/** Decisions by reason, with the newest examples. */
export function ByReason({ report, filters }: { report: ShadowReport; filters: Search }) {
  return (
    <Card title="By reason" flush>
      <Table
        label="By reason"
        rows={report.by_reason}
        keyOf={(each) => each.reason_code}
        columns={[
          {
            name: 'Reason',
            heading: true,
            cell: (each) => (
              <Link to="/decisions" search={{ ...filters, reason: each.reason_code }}>
                {reasonWords(each.reason_code)}
              </Link>
            ),
          },
          { name: 'Decisions', number: true, cell: (each) => each.count },
          { name: 'As first reason', number: true, cell: (each) => each.first_count },
          { name: 'Requested', number: true, cell: (each) => <Sums amounts={each.amounts} /> },
          {
            name: 'Newest',
            wrap: true,
            cell: (each) =>
              each.examples.slice(0, 3).map((example) => (
                <div key={example.decision_id}>
                  <Link to={`/decisions/${example.decision_id}`}>{visible(example.merchant)}</Link>{' '}
                  <span className={styles.sub}>
                    <Money amount_minor={example.amount_minor} currency={example.currency} /> ·{' '}
                    <Time at={example.created_at} />
                  </span>
                </div>
              )),
          },
        ]}
      />
    </Card>
  );
}

/** Decisions by agent, with links to the agents' reports. */
export function ByAgent({ report, search }: { report: ShadowReport; search: Search }) {
  if (report.agent !== null || report.by_agent.length === 0) return null;
  return (
    <Card title="By agent" flush>
      <Table<ShadowReport['by_agent'][number]>
        label="By agent"
        rows={report.by_agent}
        keyOf={(each) => each.agent.id}
        columns={[
          {
            name: 'Agent',
            heading: true,
            short: true,
            cell: (each) => (
              <Link to="/report" search={{ ...search, agent: each.agent.slug }}>
                <AgentName of={each.agent} />
              </Link>
            ),
          },
          { name: 'Current mode', cell: (each) => <StateBadge state={each.mode} /> },
          ...COUNTS,
        ]}
      />
    </Card>
  );
}

/** Decisions by merchant, as named by the agents. */
export function ByMerchant({ report, filters }: { report: ShadowReport; filters: Search }) {
  return (
    <Card title="By merchant" flush>
      <Table<ShadowReport['by_merchant'][number]>
        label="By merchant"
        rows={report.by_merchant}
        keyOf={(each) => each.merchant}
        columns={[
          {
            name: 'Merchant',
            heading: true,
            wrap: true,
            cell: (each) => (
              <Link to="/decisions" search={{ ...filters, merchant: each.merchant }}>
                {visible(each.merchant)}
              </Link>
            ),
          },
          ...COUNTS,
        ]}
      />
    </Card>
  );
}

/** Decisions that standing approvals answered in place of a reviewer; nothing where there are none. */
export function ByStandingApproval({ report, filters }: { report: ShadowReport; filters: Search }) {
  if (report.by_standing_approval.length === 0) return null;
  return (
    <Card title="Answered ahead" flush>
      <Table<ShadowReport['by_standing_approval'][number]>
        label="Answered ahead"
        rows={report.by_standing_approval}
        keyOf={(each) => each.allowance.id}
        columns={[
          {
            name: 'Standing approval',
            heading: true,
            wrap: true,
            cell: ({ allowance }) => (
              <Link to={`/allowances/${allowance.id}`}>{allowanceName(allowance)}</Link>
            ),
          },
          { name: 'Agent', short: true, cell: ({ agent }) => <AgentName of={agent} /> },
          {
            name: 'Decisions',
            number: true,
            cell: ({ allowance, count }) => (
              <Link to="/decisions" search={{ ...filters, allowance: allowance.id }}>
                {count}
              </Link>
            ),
          },
          { name: 'Requested', number: true, cell: (each) => <Sums amounts={each.amounts} /> },
        ]}
      />
    </Card>
  );
}
