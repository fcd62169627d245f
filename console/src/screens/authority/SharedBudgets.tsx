import { Link } from '@tanstack/react-router';
import { useBudgets } from '../../api/budgets.ts';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card } from '../../components/Page.tsx';
import { nestedBudgets } from '../../lib/budgets.ts';
import { formatMoney } from '../../lib/money.ts';
import styles from './Authority.module.css';

/** The service's maximum. */
const MAX_CHOSEN = 5;

/** Selects the shared budgets that requests count toward. Only budgets in the policy's currency are offered. */
export function SharedBudgets({
  chosen,
  currency,
  problem,
  may,
  onChosen,
}: {
  chosen: readonly string[];
  currency: string;
  problem: string | undefined;
  may: boolean;
  onChosen: (chosen: readonly string[]) => void;
}) {
  const query = useBudgets();
  const rows = nestedBudgets(query.data ?? []).filter(
    ({ budget }) => budget.currency === currency || chosen.includes(budget.slug),
  );
  const is_full = chosen.length >= MAX_CHOSEN;
  return (
    <Card title="Shared budgets">
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {problem !== undefined && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
      {query.isSuccess && rows.length === 0 ? (
        <p className={styles.status}>
          None in {currency || 'this currency'} yet. Several agents can share one of the{' '}
          <Link to="/budgets">budgets</Link>.
        </p>
      ) : (
        <fieldset className={styles.budgets}>
          <legend className={styles.status}>
            Requests count toward each selected budget and every budget above it. Select up to {MAX_CHOSEN}.
          </legend>
          {rows.map(({ budget: { slug, name, status, standing }, depth }) => {
            const is_chosen = chosen.includes(slug);
            return (
              <label key={slug} style={{ marginLeft: `${depth * 1.25}rem` }}>
                <input
                  type="checkbox"
                  checked={is_chosen}
                  disabled={!may || (is_full && !is_chosen)}
                  onChange={() =>
                    onChosen(is_chosen ? chosen.filter((each) => each !== slug) : [...chosen, slug])
                  }
                />
                <span>
                  {name}
                  <span className={styles.status}>
                    {status === 'frozen'
                      ? 'frozen: every request is denied'
                      : `${formatMoney(standing.remaining_minor ?? 0, currency)} left`}
                  </span>
                </span>
              </label>
            );
          })}
        </fieldset>
      )}
    </Card>
  );
}
