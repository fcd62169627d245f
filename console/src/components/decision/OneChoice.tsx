import type { Decision, Sheet } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { SelectField } from '../Field.tsx';
import { ReviewSettles } from '../questions/Settles.tsx';
import styles from './OneChoice.module.css';
import { sheetQuery } from './Sheet.tsx';

/** The reach of a review: this request, or every request for its merchant from now on. */
export type Reach = 'ONCE' | 'ALWAYS' | 'NEVER';

const NAMES: Record<Reach, string> = {
  ONCE: 'This request',
  ALWAYS: 'Always this merchant',
  NEVER: 'Never this merchant',
};

/** The reaches that a action offers on this sheet. */
const reachesOf = (action: 'ALLOW' | 'DENY', remember: Sheet['remember'] | undefined): Reach[] => {
  const other = action === 'ALLOW' ? 'ALWAYS' : 'NEVER';
  return remember?.[other].offered === true ? ['ONCE', other] : ['ONCE'];
};

/**
 * The one control that says how far a review reaches, with a sentence about what changes. Shows no control where there is
 * nothing to choose.
 */
export function OneChoice({
  decision,
  action,
  named,
  reach,
  onReach,
  className,
}: {
  decision: Decision;
  action: 'ALLOW' | 'DENY';
  /** The questions that a denial is about, if not the default. */
  named: readonly string[] | undefined;
  reach: Reach;
  onReach: (reach: Reach) => void;
  className: string | undefined;
}) {
  const remember = useQuery(sheetQuery(decision.decision_id)).data?.remember;
  const reaches = reachesOf(action, remember);
  const effect = reach === 'ONCE' ? null : (remember?.[reach].effect ?? null);
  return (
    <div className={className}>
      <div className={styles.choice}>
        {(reaches.length > 1 || reach !== 'ONCE') && (
          <SelectField
            label={action === 'ALLOW' ? 'What you allow' : 'What you deny'}
            data-keys
            value={reach}
            onValue={(value) => onReach(value as Reach)}
            options={(reaches.includes(reach) ? reaches : [...reaches, reach]).map((each) => [
              each,
              NAMES[each],
            ])}
          />
        )}
        <div className={styles.effect}>
          {effect !== null && <p>{effect}</p>}
          <ReviewSettles review_action={action} decisions={[decision]} named={named} />
        </div>
      </div>
    </div>
  );
}
