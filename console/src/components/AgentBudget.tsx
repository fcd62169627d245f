import type { AgentWithBudgets } from '@purser/sdk';
import { formatMoney } from '../lib/money.ts';
import { BudgetBar, type Part } from './decision/Budget.tsx';
import styles from './decision/decision.module.css';

type Budgets = AgentWithBudgets['budgets'];

function partsOfBudget({ committed_minor, held_minor, remaining_minor }: Budgets[number]): Part[] {
  const parts: Part[] = [
    { kind: 'committed', name: 'Spent', amount_minor: committed_minor },
    { kind: 'held', name: 'Held', amount_minor: held_minor },
  ];
  if (remaining_minor !== null)
    parts.push({ kind: 'left', name: 'Remaining', amount_minor: remaining_minor });
  return parts;
}

/** An agent's budgets for this month, one per currency. */
export function AgentBudgets({ budgets }: { budgets: Budgets }) {
  if (budgets.length === 0) return <p>No spending this month, and no budget set.</p>;
  return budgets.map((budget) => (
    <BudgetBar
      key={budget.currency}
      title={
        budget.limit_minor === null
          ? `${budget.currency}: no monthly budget set`
          : `${formatMoney(budget.limit_minor, budget.currency)} budget for this month (UTC)`
      }
      parts={partsOfBudget(budget)}
      currency={budget.currency}
    />
  ));
}

/** A budget in a row of a list: a bar with the used and total amount. */
export function BudgetLine({ budgets }: { budgets: Budgets | undefined }) {
  const budget = budgets?.find((each) => each.limit_minor !== null) ?? budgets?.[0];
  if (budget === undefined) return null;
  const { committed_minor, held_minor, limit_minor, currency } = budget;
  const used_minor = committed_minor + held_minor;
  const whole = Math.max(1, limit_minor ?? used_minor, used_minor);
  return (
    <div style={{ minWidth: '11rem' }}>
      <div className={styles.bar} aria-hidden="true">
        <span className={styles.committed} style={{ width: `${(committed_minor / whole) * 100}%` }} />
        <span className={styles.held} style={{ width: `${(held_minor / whole) * 100}%` }} />
      </div>
      <span className={styles.where}>
        {formatMoney(used_minor, currency)}
        {limit_minor === null ? ', no limit' : ` of ${formatMoney(limit_minor, currency).slice(4)}`}
      </span>
    </div>
  );
}
