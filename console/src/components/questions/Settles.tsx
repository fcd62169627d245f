import type { Decision } from '@purser/sdk';
import { NO_IN_WORDS, questionCount, settledBy, yesInWords } from '../../lib/questions.ts';
import { visible } from '../../lib/visible.ts';
import styles from './questions.module.css';

/** Questions that the list of a bulk review shows in full. */
const SHOWN = 5;

/** The effect of either review of a pending request. Renders nothing if it asks no question. */
export function YesAndNo({ decision }: { decision: Decision }) {
  const { questions, amounts } = settledBy([decision], 'ALLOW');
  if (questions.length === 0) return null;
  return (
    <div className={styles.settles}>
      <p>
        <strong>Allow</strong> answers yes{questions.length === 1 ? '' : ' to every open question'}.{' '}
        {yesInWords(amounts, questions.length)}
      </p>
      <p>
        <strong>Deny</strong> answers no{questions.length === 1 ? '' : ' to those that you choose'}.{' '}
        {NO_IN_WORDS}
      </p>
    </div>
  );
}

/** The effect of reviewing these requests one way. Renders nothing if they ask no question. */
export function ReviewSettles({
  decisions,
  review_action,
  named,
  lists = false,
}: {
  decisions: readonly Decision[];
  review_action: 'ALLOW' | 'DENY';
  /** The questions that a denial is about, if not the default. */
  named?: readonly string[] | undefined;
  /** Lists the questions, which are not shown elsewhere. */
  lists?: boolean;
}) {
  const { questions, amounts } = settledBy(decisions, review_action, named);
  if (questions.length === 0) {
    if (named === undefined) return null;
    return <p className={styles.settles}>This denial answers no question. Reviewers will be asked again.</p>;
  }
  const is_yes = review_action === 'ALLOW';
  return (
    <div className={styles.settles}>
      <p>
        <strong>
          Answers {is_yes ? 'yes' : 'no'} to {questionCount(questions.length)}.
        </strong>{' '}
        {is_yes ? yesInWords(amounts, questions.length) : NO_IN_WORDS}
      </p>
      {lists && (
        <div className={styles.bullets}>
          {questions.slice(0, SHOWN).map(({ question_id, sentence }) => (
            <p key={question_id}>{visible(sentence)}</p>
          ))}
          {questions.length > SHOWN && <p>And {questions.length - SHOWN} more</p>}
        </div>
      )}
    </div>
  );
}
