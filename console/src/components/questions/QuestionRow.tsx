import type { AskedQuestion } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { coverInWords } from '../../lib/questions.ts';
import { visible } from '../../lib/visible.ts';
import { words } from '../../lib/words.ts';
import { Badge } from '../Badge.tsx';
import { Button } from '../Button.tsx';
import { Money, Time } from '../Value.tsx';
import { AnswerBadge, AnsweredBy, QuestionText } from './Question.tsx';
import styles from './QuestionRow.module.css';

/** A question of an agent with its counts, examples, answer and earlier answers. */
export function QuestionRow({
  agent,
  question,
  onDo,
}: {
  agent: string;
  question: AskedQuestion;
  onDo: (what: 'YES' | 'NO' | 'forget') => void;
}) {
  const { merchant, kind, answered, earlier, of_present_objective } = question;
  return (
    <li className={styles.row}>
      <div className={styles.body}>
        <div className={styles.head}>
          <AnswerBadge answer={answered?.answer ?? null} />
          <h2>{visible(merchant)}</h2>
          <span className={styles.soft}>{words(kind)}</span>
          {!of_present_objective && (
            <Badge title="It was asked under another objective, so its answer has no effect now.">
              Earlier objective
            </Badge>
          )}
        </div>
        <QuestionText question={question} />
        <Asked agent={agent} question={question} />
        {answered !== null && <Answered answered={answered} />}
        {earlier.length > 0 && <Earlier earlier={earlier} />}
      </div>
      <Buttons question={question} onDo={onDo} />
    </li>
  );
}

/** How often it was asked, with the newest examples and the pending reviews. */
function Asked({ agent, question }: { agent: string; question: AskedQuestion }) {
  const { question_id, asked, last_asked_at, pending, examples } = question;
  return (
    <div className={styles.asked}>
      <p>
        <Link to={`/agents/${agent}/decisions`} search={{ question_id }}>
          Asked {asked === 1 ? 'once' : `${asked} times`}
        </Link>
        , last <Time at={last_asked_at} />
        {pending > 0 && (
          <>
            {' · '}
            <Link to="/reviews" search={{ question: question_id }}>
              {pending} pending {pending === 1 ? 'review' : 'reviews'}
            </Link>
          </>
        )}
      </p>
      {examples.length > 0 && (
        <ul className={styles.examples} aria-label="Examples">
          {examples.map(({ decision_id, amount_minor, currency, asked_at }) => (
            <li key={decision_id}>
              <Link to={`/decisions/${decision_id}`}>
                <Money amount_minor={amount_minor} currency={currency} />
              </Link>{' '}
              <Time at={asked_at} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The answer in force: by whom and when, how it came about, and what it covers. */
function Answered({ answered }: { answered: NonNullable<AskedQuestion['answered']> }) {
  const { answer, comment, decision_id, allowed } = answered;
  return (
    <div className={styles.answered}>
      <p>
        <strong>{answer === 'YES' ? 'Yes' : 'No'}</strong> <AnsweredBy {...answered} />
        {decision_id !== null && (
          <>
            , about <Link to={`/decisions/${decision_id}`}>a request</Link>
          </>
        )}
        .
      </p>
      {comment !== null && <q>{comment}</q>}
      {answer === 'YES' && allowed.length > 0 && <p className={styles.soft}>{coverInWords(allowed)}</p>}
    </div>
  );
}

/** Answers before the present one. */
function Earlier({ earlier }: { earlier: AskedQuestion['earlier'] }) {
  return (
    <details className={styles.earlier}>
      <summary>{earlier.length === 1 ? '1 earlier answer' : `${earlier.length} earlier answers`}</summary>
      <ul>
        {earlier.map(({ answer, by, at, comment, decision_id }) => (
          <li key={`${at} ${by} ${answer}`}>
            {answer === null ? 'Forgotten' : answer === 'YES' ? 'Yes' : 'No'} <AnsweredBy by={by} at={at} />
            {decision_id !== null && (
              <>
                , about <Link to={`/decisions/${decision_id}`}>a request</Link>
              </>
            )}
            {comment !== null && (
              <>
                {' '}
                <q>{comment}</q>
              </>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Buttons({
  question: { sentence, answered },
  onDo,
}: {
  question: AskedQuestion;
  onDo: (what: 'YES' | 'NO' | 'forget') => void;
}) {
  const why = !useMay('review') && WHY_NOT.review;
  const why_not_forget = !useMay('admin') && WHY_NOT.admin;
  const button = (what: 'YES' | 'NO', text: string) => (
    <Button
      small
      kind={what === 'NO' ? 'danger' : undefined}
      why={why}
      aria-label={`${text}: ${visible(sentence)}`}
      onClick={() => onDo(what)}
    >
      {text}
    </Button>
  );
  if (answered === null) {
    return (
      <div className={styles.buttons}>
        {button('YES', 'Answer yes')}
        {button('NO', 'Answer no')}
      </div>
    );
  }
  return (
    <div className={styles.buttons}>
      {answered.answer === 'YES' ? button('NO', 'Change to no') : button('YES', 'Change to yes')}
      <Button
        small
        kind="quiet"
        why={why_not_forget}
        aria-label={`Forget: ${visible(sentence)}`}
        onClick={() => onDo('forget')}
      >
        Forget
      </Button>
    </div>
  );
}
