import type { Decision } from '@purser/sdk';
import { cx } from '../../lib/cx.ts';
import { formatMoney } from '../../lib/money.ts';
import styles from './decision.module.css';

export interface Part {
  kind: 'committed' | 'held' | 'this' | 'over' | 'left';
  name: string;
  amount_minor: number;
}

/**
 * Splits a month's budget into spent, held by others, this request and the rest. An existing hold of this request is
 * subtracted from the held amount, so that it does not count twice.
 */
export function partsOf(
  budget: { held_minor: number; committed_minor: number; limit_minor: number | null },
  spend: { amount_minor: number; is_held: boolean },
): Part[] {
  const { committed_minor, limit_minor } = budget;
  const held_minor = Math.max(0, budget.held_minor - (spend.is_held ? spend.amount_minor : 0));
  const used_minor = committed_minor + held_minor + spend.amount_minor;
  const parts: Part[] = [
    { kind: 'committed', name: 'Spent', amount_minor: committed_minor },
    { kind: 'held', name: 'Held', amount_minor: held_minor },
    { kind: 'this', name: 'This request', amount_minor: spend.amount_minor },
  ];
  if (limit_minor === null) return parts;
  const left_minor = limit_minor - used_minor;
  parts.push(
    left_minor >= 0
      ? { kind: 'left', name: 'Remaining after it', amount_minor: left_minor }
      : { kind: 'over', name: 'Over budget', amount_minor: -left_minor },
  );
  return parts;
}

/** The month's budget before and after a request. */
export function Budget({ decision }: { decision: Decision }) {
  const { reservation, currency, requested_amount_minor } = decision;
  const { budget, period, status } = reservation;
  const is_held = status === 'HELD';
  const parts = partsOf(budget, {
    amount_minor: is_held ? reservation.amount_minor : status === 'NONE' ? requested_amount_minor : 0,
    is_held,
  });
  const month = new Intl.DateTimeFormat(undefined, {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  }).format(new Date(`${period}-15T00:00:00Z`));
  const of =
    budget.limit_minor === null
      ? `No monthly budget set; ${month} so far, as of now`
      : `${formatMoney(budget.limit_minor, currency)} budget for ${month}, as of now`;
  return <BudgetBar title={of} parts={parts} currency={currency} />;
}

/** A bar of parts with a legend below. */
export function BudgetBar({
  title,
  parts,
  currency,
}: {
  title: string;
  parts: readonly Part[];
  currency: string;
}) {
  const shown = parts.filter(({ amount_minor, kind }) => amount_minor > 0 || kind === 'left');
  const whole = Math.max(1, ...[shown.reduce((sum, each) => sum + each.amount_minor, 0)]);
  return (
    <figure>
      <figcaption className={styles.where}>{title}</figcaption>
      <div className={styles.bar} aria-hidden="true" style={{ marginTop: '0.4rem' }}>
        {shown
          .filter(({ kind, amount_minor }) => kind !== 'left' && amount_minor > 0)
          .map(({ kind, amount_minor }) => (
            <span key={kind} className={styles[kind]} style={{ width: `${(amount_minor / whole) * 100}%` }} />
          ))}
      </div>
      <ul className={styles.legend}>
        {shown.map(({ kind, name, amount_minor }) => (
          <li key={kind}>
            <span className={cx(styles.dot, styles[kind])} aria-hidden="true" />
            {name} <span className="figures">{formatMoney(amount_minor, currency)}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}
