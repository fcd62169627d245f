import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { visible } from '../../lib/visible.ts';
import { StateBadge } from '../Badge.tsx';
import { buttonClass } from '../Button.tsx';
import { Money, Time } from '../Value.tsx';
import styles from './connect.module.css';

const POLL_MS = 2_000;
const SHOWN = 5;

/** Waits for an agent's first request, and shows the newest ones with what to do next. */
export function Listening({ agent_id }: { agent_id: string }) {
  const { data = [] } = useQuery({
    queryKey: ['decisions', 'listening', agent_id],
    queryFn: async () => (await purser.decisions.list({ agent: agent_id, limit: SHOWN })).data,
    refetchInterval: POLL_MS,
  });
  const pending = data.find((each) => each.review_state === 'PENDING');
  return (
    <div className={styles.listening} role="status" aria-label="Requests of this agent">
      {data.length === 0 ? (
        <p className={styles.waiting}>
          <span aria-hidden="true" /> Listening for the first request…
        </p>
      ) : (
        <>
          <ul>
            {data.map((each) => (
              <li key={each.decision_id}>
                <p>
                  <StateBadge state={each.decision} />{' '}
                  <Link to={`/decisions/${each.decision_id}`}>{visible(each.action.merchant)}</Link>{' '}
                  <Money amount_minor={each.requested_amount_minor} currency={each.currency} />
                  <span className={styles.soft}>
                    {' '}
                    <Time at={each.created_at} />
                  </span>
                </p>
                <p className={styles.soft}>{each.explanation}</p>
              </li>
            ))}
          </ul>
          <p className={styles.next}>
            {pending !== undefined && (
              <Link to="/reviews" search={{ id: pending.decision_id }} className={buttonClass('primary')}>
                Review it
              </Link>
            )}
            <Link to="/report" className={buttonClass()}>
              Shadow report
            </Link>
          </p>
        </>
      )}
    </div>
  );
}
