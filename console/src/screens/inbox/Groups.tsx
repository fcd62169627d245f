import type { PendingQuestion, Question } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { Button } from '../../components/Button.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { QuestionText } from '../../components/questions/Question.tsx';
import type { Search } from '../../lib/search.ts';
import { visible } from '../../lib/visible.ts';
import type { Verdict } from './BulkDialog.tsx';
import styles from './Inbox.module.css';

/** Groups shown before the reviewer asks for all. */
const SHOWN = 3;

/** The questions that several pending requests ask, each as a link to its requests. Renders nothing without any. */
export function Groups({ agent }: { agent: string | undefined }) {
  const [is_open, setOpen] = useState(false);
  const { data = [] } = useQuery({
    queryKey: ['questions', 'pending', agent],
    queryFn: async () => {
      const query = { limit: 200, ...(agent === undefined ? {} : { agent }) };
      const questions = (await purser.agents.questions.pending(query)).data;
      return questions.filter(({ pending }) => pending > 1);
    },
  });
  if (data.length === 0) return null;
  return (
    <section className={styles.groups} aria-label="Questions that several requests ask">
      {(is_open ? data : data.slice(0, SHOWN)).map((question) => (
        <Group key={question.agent.id + question.question_id} question={question} agent={agent} />
      ))}
      {data.length > SHOWN && (
        <Button small kind="quiet" aria-expanded={is_open} onClick={() => setOpen(!is_open)}>
          {is_open ? 'Show fewer' : `Show all ${data.length} questions`}
        </Button>
      )}
    </section>
  );
}

function Group({ question, agent: only_agent }: { question: PendingQuestion; agent: string | undefined }) {
  const { question_id, pending, sentence, agent } = question;
  return (
    <Link
      to="/reviews"
      search={{ ...(only_agent === undefined ? {} : { agent: only_agent }), question: question_id }}
    >
      <strong>{pending} requests ask the same</strong>
      <span className={styles.asks}>{visible(sentence)}</span>
      <span className={styles.meta}>
        <AgentName of={agent} />
      </span>
    </Link>
  );
}

/** The question that the listed requests ask, with the buttons that answer it for all of them. */
export function GroupHead({
  question,
  count,
  has_more,
  back,
  onVerdict,
}: {
  question: Question | undefined;
  /** The loaded requests. */
  count: number;
  /** True if only some of the requests are loaded. */
  has_more: boolean;
  /** URL parameters of the whole list. */
  back: Search;
  onVerdict: (verdict: Verdict) => void;
}) {
  const why = !useMay('review') && WHY_NOT.review;
  return (
    <section className={styles.group} aria-label="One question">
      <Link to="/reviews" search={back}>
        ← All pending requests
      </Link>
      {question !== undefined && (
        <>
          <p>
            {count}
            {has_more && '+'} {count === 1 ? 'request asks' : 'requests ask the same'}
          </p>
          <QuestionText question={question} />
          <div className={styles.groupButtons}>
            <Button small why={why} onClick={() => onVerdict('ALLOW')}>
              {count === 1 ? 'Allow it' : `Allow ${has_more ? 'these' : 'all'} ${count}`}
            </Button>
            <Button small kind="danger" why={why} onClick={() => onVerdict('DENY')}>
              {count === 1 ? 'Deny it' : `Deny ${has_more ? 'these' : 'all'} ${count}`}
            </Button>
          </div>
        </>
      )}
    </section>
  );
}
