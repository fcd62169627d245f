import type { Allowance } from '@purser/sdk';
import { formatMoney, majorUnits } from '../../lib/money.ts';
import { Meter } from '../limits/Meter.tsx';
import styles from './allowances.module.css';
import { allowancePeriod } from './allowances.ts';

/** Shows what is used of an allowance in its period. */
export function AllowanceUse({ allowance }: { allowance: Allowance }) {
  const { standing, amount_minor, currency } = allowance;
  return (
    <div className={styles.use}>
      <Meter used={standing.used_minor} limit={amount_minor}>
        {formatMoney(standing.used_minor, currency)} of {majorUnits(amount_minor, currency)}
      </Meter>
      <span className={styles.soft}>{allowancePeriod(allowance)}</span>
    </div>
  );
}
