import type { Decision } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { memo, useEffect, useRef } from 'react';
import { StateBadge } from '../../components/Badge.tsx';
import { Countdown, Money, Time } from '../../components/Value.tsx';
import { progressInWords } from '../../lib/reviews/progress.ts';
import type { Search } from '../../lib/search.ts';
import { visible } from '../../lib/visible.ts';
import { reasonWords } from '../../lib/words.ts';
import styles from './Inbox.module.css';

/** A row of the inbox: merchant, amount, agent, reason and time left. */
export const InboxRow = memo(function InboxRow({
  decision,
  is_current,
  is_aside,
  is_selected,
  is_refused,
  kept,
  onToggle,
}: {
  decision: Decision;
  is_current: boolean;
  is_aside: boolean;
  is_selected: boolean;
  /** True if a review of it was sent but not recorded. */
  is_refused: boolean;
  /** The other URL parameters. */
  kept: Search;
  /** Undefined if rows cannot be selected. */
  onToggle: ((decision_id: string, with_range: boolean) => void) | undefined;
}) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (is_current) row.current?.scrollIntoView({ block: 'nearest' });
  }, [is_current]);
  const { action, agent, reason_code, reservation, review_state, requested_amount_minor, currency } =
    decision;
  const is_pending = review_state === 'PENDING';
  const progress = progressInWords(decision);
  return (
    <li ref={row} className={styles.row} data-current={is_current || undefined}>
      {onToggle === undefined ? (
        <span />
      ) : (
        <input
          type="checkbox"
          checked={is_selected}
          aria-label={`Select ${visible(action.merchant)}`}
          onChange={() => {}}
          onClick={(event) => onToggle(decision.decision_id, event.shiftKey)}
        />
      )}
      <Link
        to="/reviews"
        search={{ ...kept, id: decision.decision_id }}
        className={styles.open}
        aria-current={is_current ? 'true' : undefined}
      >
        <span className={styles.merchant}>{visible(action.merchant)}</span>
        <Money className={styles.amount} amount_minor={requested_amount_minor} currency={currency} />
        <span className={styles.meta}>
          {is_refused && <strong>Not recorded · </strong>}
          {is_aside && 'Set aside · '}
          {agent.slug} · {reasonWords(reason_code)}
          {progress !== null && ` · ${progress}`}
        </span>
        <span className={styles.due}>
          {is_pending && reservation.expires_at !== null ? (
            <Countdown until={reservation.expires_at} />
          ) : is_pending ? (
            <>
              Shadow · <Time at={decision.created_at} />
            </>
          ) : (
            <StateBadge state={review_state ?? 'NONE'} />
          )}
        </span>
      </Link>
    </li>
  );
});
