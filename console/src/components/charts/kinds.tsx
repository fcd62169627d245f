import { cx } from '../../lib/cx.ts';
import { words } from '../../lib/words.ts';
import styles from './charts.module.css';

/** Numbers of decisions by kind. */
export interface Counts {
  allow: number;
  review: number;
  deny: number;
}

export const KINDS = ['allow', 'review', 'deny'] as const;

export function KindLegend() {
  return (
    <ul className={styles.legend}>
      {KINDS.map((kind) => (
        <li key={kind}>
          <i className={styles[kind]} aria-hidden="true" />
          {words(kind.toUpperCase())}
        </li>
      ))}
    </ul>
  );
}

/** Shares of a row's decisions by kind. The numbers are in the columns beside it. */
export function Share({ counts }: { counts: Counts }) {
  const whole = Math.max(1, counts.allow + counts.review + counts.deny);
  return (
    <div className={styles.share} aria-hidden="true">
      {KINDS.map((kind) => (
        <span key={kind} className={cx(styles[kind])} style={{ width: `${(counts[kind] / whole) * 100}%` }} />
      ))}
    </div>
  );
}
