import { remedySentence } from '@purser/contract/values/remedies';
import type { Decision } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { localTime } from '../../lib/time.ts';
import { reasonWords } from '../../lib/words.ts';
import { Card } from '../Page.tsx';
import styles from './decision.module.css';

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
              {remedySentence(remedy, currency, localTime)}
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
