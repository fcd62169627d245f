import type { QuestionAnswer, QuestionSubject } from '@purser/sdk';
import type { ReactNode } from 'react';
import { placeOf } from '../../lib/places.ts';
import { visible } from '../../lib/visible.ts';
import { Author } from '../Author.tsx';
import { Badge } from '../Badge.tsx';
import { Time } from '../Value.tsx';
import styles from './questions.module.css';

/** The question to a reviewer, with the clause that it hangs on and the words that met it. */
export function QuestionText({
  question: { sentence, about },
  children,
}: {
  question: { sentence: string; about: QuestionSubject | null };
  children?: ReactNode;
}) {
  return (
    <div className={styles.text}>
      <p className={styles.sentence}>{visible(sentence)}</p>
      <Subject about={about} />
      {children}
    </div>
  );
}

function Subject({ about }: { about: QuestionSubject | null }) {
  if (about === null || (about.clause === null && about.words.length === 0)) return null;
  const { clause, words } = about;
  return (
    <p className={styles.subject}>
      {clause !== null && (
        <span>
          <q>{visible(clause.text)}</q> <span className={styles.soft}>{placeOf(clause.field)}</span>
        </span>
      )}
      {words.length > 0 && (
        <span>
          <span className={styles.soft}>In the request:</span>{' '}
          {words.map((each, i) => (
            <span key={each}>
              {i > 0 && ', '}
              <q>{visible(each)}</q>
            </span>
          ))}
        </span>
      )}
    </p>
  );
}

/** An answer as a badge. Without one, the question is open. */
export function AnswerBadge({ answer }: { answer: 'YES' | 'NO' | null }) {
  if (answer === null) return <Badge tone="review">Open</Badge>;
  return answer === 'YES' ? <Badge tone="allow">Yes</Badge> : <Badge tone="deny">No</Badge>;
}

/** The author and time of an answer. */
export function AnsweredBy({ by, at }: Pick<QuestionAnswer, 'by' | 'at'>) {
  return (
    <>
      by <Answerer by={by} />, <Time at={at} />
    </>
  );
}

/** The principal of an answer, or its key where it has no principal. */
function Answerer({ by }: { by: string }) {
  return by.startsWith('key_') ? (
    <Author principal_id={null} key_id={by} />
  ) : (
    <Author principal_id={by} key_id={null} />
  );
}
