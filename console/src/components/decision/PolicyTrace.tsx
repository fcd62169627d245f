import type { Decision } from '@purser/sdk';
import { cx } from '../../lib/cx.ts';
import { stageWords } from '../../lib/words.ts';
import { StateBadge } from '../Badge.tsx';
import styles from './decision.module.css';

const FILLS: Record<string, string | undefined> = {
  PASS: styles.committed,
  LIMIT: styles.this,
  REVIEW: styles.this,
  DENY: styles.over,
};

/** All checks in order, each with the observed value and its limit. */
export function PolicyTrace({ decision }: { decision: Decision }) {
  return (
    <ol className={styles.trace}>
      {decision.policy_trace.map(({ stage, name, outcome, detail, observed, limit }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a list that never changes
        <li key={i}>
          <strong>
            {stageWords(stage)}
            {name !== undefined && <span className={styles.where}> {name}</span>}
          </strong>
          <span>
            <StateBadge state={outcome} />
          </span>
          <div>
            <p>{detail}</p>
            {typeof observed === 'number' && typeof limit === 'number' && (
              <Gauge observed={observed} limit={limit} fill={FILLS[outcome]} />
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}

/** A bar for the observed value with a mark for the limit. The sentence above states both. */
function Gauge({ observed, limit, fill }: { observed: number; limit: number; fill: string | undefined }) {
  const whole = Math.max(observed, limit, 1) * 1.08;
  return (
    <div className={styles.gauge} aria-hidden="true">
      <span className={cx(fill)} style={{ width: `${(observed / whole) * 100}%` }} />
      <i style={{ left: `${(limit / whole) * 100}%` }} />
    </div>
  );
}
