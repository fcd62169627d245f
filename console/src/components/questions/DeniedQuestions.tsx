import type { Question } from '@purser/sdk';
import { useId } from 'react';
import { toggled } from '../../lib/toggled.ts';
import { QuestionText } from './Question.tsx';
import styles from './questions.module.css';

/** The choice of the questions that a denial is about. Renders nothing without a choice. */
export function DeniedQuestions({
  questions,
  chosen,
  onChosen,
}: {
  questions: readonly Question[];
  chosen: ReadonlySet<string>;
  onChosen: (ids: ReadonlySet<string>) => void;
}) {
  const id = useId();
  if (questions.length < 2) return null;
  return (
    <fieldset className={styles.choice} aria-describedby={id}>
      <legend>This denial is about</legend>
      <div className={styles.choices}>
        {questions.map((question) => (
          <label key={question.question_id}>
            <input
              type="checkbox"
              checked={chosen.has(question.question_id)}
              onChange={() => onChosen(toggled(chosen, question.question_id))}
            />
            <QuestionText question={question} />
          </label>
        ))}
      </div>
      <p id={id} className={styles.soft}>
        Only these are answered with no. The others stay open.
      </p>
    </fieldset>
  );
}
