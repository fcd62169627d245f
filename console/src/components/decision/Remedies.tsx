import type { Decision, Remedy } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { formatMoney } from '../../lib/money.ts';
import { localTime } from '../../lib/time.ts';
import { reasonWords } from '../../lib/words.ts';
import { Card } from '../Page.tsx';
import styles from './decision.module.css';

const THEN = {
  ALLOW: 'it would be allowed',
  REVIEW: 'a person would decide',
  DENY: 'it would still be denied',
} as const;

function said(remedy: Remedy, currency: string): string {
  switch (remedy.type) {
    case 'REDUCE_AMOUNT':
      return `For ${formatMoney(remedy.max_amount_minor, currency)} or less`;
    case 'RETRY_AT':
      return `From ${localTime(remedy.at)} on, if nothing else is spent meanwhile,`;
    case 'USE_CURRENCY':
      return `In ${remedy.currency}`;
    case 'CHOOSE_OTHER_MERCHANT':
      return 'At another merchant';
    default:
      return 'As the authority stands nothing helps; with another one';
  }
}

/** What would let a spend pass, besides a person who allows it; nothing where the service knows of nothing. */
export function Remedies({ decision }: { decision: Decision }) {
  const { remedies = [], currency, agent } = decision;
  const ways = remedies.filter(({ type }) => type !== 'WAIT_FOR_REVIEW');
  if (ways.length === 0) return null;
  return (
    <Card title="What would let it pass">
      <ul className={styles.remedies}>
        {ways.map((remedy) => (
          <li key={remedy.type}>
            <span>
              {said(remedy, currency)} {THEN[remedy.then]}.
              {remedy.type === 'ASK_OPERATOR' && (
                <>
                  {' '}
                  <Link to={`/agents/${agent.slug}/authority`}>Look at it</Link>
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
