import type { Decision, Remedy } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { formatMoney } from '../../lib/money.ts';
import { localTime } from '../../lib/time.ts';
import { reasonWords } from '../../lib/words.ts';
import { Card } from '../Page.tsx';
import styles from './decision.module.css';

const THEN = {
  ALLOW: 'it would be allowed',
  REVIEW: 'it would need review',
  DENY: 'it would still be denied',
} as const;

function remedyInWords(remedy: Remedy, currency: string): string {
  switch (remedy.type) {
    case 'REDUCE_AMOUNT':
      return `For ${formatMoney(remedy.max_amount_minor, currency)} or less`;
    case 'RETRY_AT':
      return `From ${localTime(remedy.at)}, if nothing else is spent before,`;
    case 'USE_CURRENCY':
      return `In ${remedy.currency}`;
    case 'CHOOSE_OTHER_MERCHANT':
      return 'At another merchant';
    default:
      return 'Only a changed policy helps: with one';
  }
}

/** Ways to get the request allowed, other than a review. Renders nothing if there are none. */
export function Remedies({ decision }: { decision: Decision }) {
  const { remedies = [], currency, agent } = decision;
  const ways = remedies.filter(({ type }) => type !== 'WAIT_FOR_REVIEW');
  if (ways.length === 0) return null;
  return (
    <Card title="How to get it allowed">
      <ul className={styles.remedies}>
        {ways.map((remedy) => (
          <li key={remedy.type}>
            <span>
              {remedyInWords(remedy, currency)} {THEN[remedy.then]}.
              {remedy.type === 'ASK_OPERATOR' && (
                <>
                  {' '}
                  <Link to={`/agents/${agent.slug}/authority`}>See the policy</Link>
                </>
              )}
            </span>
            <span className={styles.where}>{remedy.clears.map(reasonWords).join(' · ')}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
