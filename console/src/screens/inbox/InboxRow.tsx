import { Link } from '@tanstack/react-router';
import { memo, useEffect, useRef } from 'react';
import { StateBadge } from '../../components/Badge.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { Countdown, Money, Time } from '../../components/Value.tsx';
import { approvalsInWords, type Row } from '../../lib/reviews/rows.ts';
import type { Search } from '../../lib/search.ts';
import { visible } from '../../lib/visible.ts';
import { reasonWords } from '../../lib/words.ts';
import styles from './Inbox.module.css';

/** A row of the inbox: merchant, amount, agent, reason and time left. */
export const InboxRow = memo(function InboxRow({
  row: shown,
  is_current,
  is_aside,
  is_selected,
  is_refused,
  kept,
  onToggle,
}: {
  row: Row;
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
  const { decision_id, merchant, agent, reason_code, review_state, amount_minor, currency, expires_at } =
    shown;
  const is_pending = review_state === 'PENDING';
  const progress = approvalsInWords(shown);
  return (
    <li ref={row} className={styles.row} data-current={is_current || undefined}>
      {onToggle === undefined ? (
        <span />
      ) : (
        <input
          type="checkbox"
          checked={is_selected}
          aria-label={`Select ${visible(merchant)}`}
          onChange={() => {}}
          onClick={(event) => onToggle(decision_id, event.shiftKey)}
        />
      )}
      <Link
        to="/reviews"
        search={{ ...kept, id: decision_id }}
        className={styles.open}
        aria-current={is_current ? 'true' : undefined}
      >
        <span className={styles.merchant}>{visible(merchant)}</span>
        <Money className={styles.amount} amount_minor={amount_minor} currency={currency} />
        <span className={styles.meta}>
          {is_refused && <strong>Not recorded · </strong>}
          {is_aside && <span className={styles.whole}>{'Set aside · '}</span>}
          <span className={styles.agent}>
            <AgentName of={agent} />
          </span>
          <span>
            {' · '}
            {reasonWords(reason_code)}
            {progress !== null && ` · ${progress}`}
            {shown.assigned_to !== null && ' · Assigned'}
          </span>
        </span>
        <span className={styles.due}>
          {is_pending && expires_at !== null ? (
            <Countdown until={expires_at} />
          ) : is_pending ? (
            <>
              Shadow · <Time at={shown.created_at} />
            </>
          ) : (
            <StateBadge state={review_state ?? 'NONE'} />
          )}
        </span>
      </Link>
    </li>
  );
});
