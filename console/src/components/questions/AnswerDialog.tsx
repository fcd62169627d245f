import type { AskedQuestion } from '@purser/sdk';
import { purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { type Amount, NO_IN_WORDS, yesInWords } from '../../lib/questions.ts';
import { Button } from '../Button.tsx';
import { Actions, Dialog } from '../Dialog.tsx';
import { AreaField } from '../Field.tsx';
import { ErrorNotice } from '../Notice.tsx';
import { QuestionText } from './Question.tsx';
import styles from './questions.module.css';

/** A question that the dialog can answer. */
export interface Answerable extends Pick<AskedQuestion, 'question_id' | 'about' | 'sentence'> {
  /** Pending reviews that ask it. Omitted if not known, like the amounts. */
  pending?: number;
  amounts?: readonly Amount[];
}

/** Answers a question of an agent, with an optional comment. Says what the answer will settle. */
export function AnswerDialog({
  agent,
  question,
  answer,
  onClose,
  onAnswered = () => {},
}: {
  /** The agent's slug. */
  agent: string;
  question: Answerable;
  answer: 'YES' | 'NO';
  onClose: () => void;
  onAnswered?: (question: AskedQuestion) => void;
}) {
  const { question_id, amounts = null, pending = 0 } = question;
  const form = useForm({ comment: '' }, async ({ comment }) => {
    const words = comment.trim() === '' ? {} : { comment };
    onAnswered(await purser.agents.questions.answer(agent, question_id, { answer, ...words }));
    onClose();
    void invalidate('questions');
    void invalidate('report');
  });
  const action = `Answer ${answer === 'YES' ? 'yes' : 'no'}`;
  return (
    <Dialog title={action} onClose={onClose}>
      <form className={styles.form} onSubmit={form.onSubmit}>
        <QuestionText question={question} />
        <div className={styles.settles}>
          <p>{answer === 'YES' ? yesInWords(amounts) : NO_IN_WORDS}</p>
          {pending > 0 && (
            <p>
              {pending === 1
                ? 'The pending review that asks this stays'
                : 'Pending reviews that ask this stay'}{' '}
              in the inbox.
            </p>
          )}
        </div>
        <AreaField label="Comment" optional rows={2} maxLength={2000} {...form.field('comment')} />
        {form.error !== null && <ErrorNotice error={form.error} title="Your answer was not recorded." />}
        <Actions recorded>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind={answer === 'YES' ? 'primary' : 'danger-primary'} type="submit" busy={form.busy}>
            {action}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
