import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import { words } from '../lib/words.ts';
import styles from './Badge.module.css';

export type Tone = 'idle' | 'allow' | 'review' | 'deny' | 'accent';

/** A short word on a coloured background. The colour only repeats the word. */
export function Badge({
  tone = 'idle',
  title,
  children,
}: {
  tone?: Tone;
  title?: string | undefined;
  children: ReactNode;
}) {
  return (
    <span className={cx(styles.badge, tone !== 'idle' && styles[tone])} title={title}>
      {children}
    </span>
  );
}

const TONES: Record<string, Tone> = {
  ALLOW: 'allow',
  ALLOWED: 'allow',
  EXECUTED: 'allow',
  OPEN: 'allow',
  REQUESTED: 'review',
  SUCCEEDED: 'allow',
  active: 'allow',
  SENT: 'allow',
  HEALTHY: 'allow',
  FAILING: 'deny',
  PURPOSE_ALIGNED: 'allow',
  PASS: 'allow',
  REVIEW: 'review',
  PENDING: 'review',
  pending: 'review',
  accepted: 'allow',
  RETRYING: 'review',
  LIMIT: 'review',
  paused: 'review',
  PURPOSE_UNCLEAR: 'review',
  PARTIALLY_REFUNDED: 'review',
  DENY: 'deny',
  DENIED: 'deny',
  BLOCKED: 'deny',
  FAILED: 'deny',
  revoked: 'deny',
  frozen: 'deny',
  PURPOSE_MISALIGNED: 'deny',
  ENFORCE: 'accent',
};

/** A badge for a state of the API: decisions, reviews, outcomes, labels, modes, statuses. */
export function StateBadge({ state, title }: { state: string; title?: string | undefined }) {
  return (
    <Badge tone={TONES[state] ?? 'idle'} title={title}>
      {words(state)}
    </Badge>
  );
}

/** The decision and, if it differs, the effective decision. */
export function DecisionBadges({ decision, effective }: { decision: string; effective: string }) {
  if (decision === effective) return <StateBadge state={decision} />;
  return (
    <span className={styles.arrow}>
      <StateBadge state={decision} />
      <span aria-hidden="true">→</span>
      <span className="visually-hidden">in effect: </span>
      <StateBadge state={effective} />
    </span>
  );
}
