import type { ShadowReport } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { Button } from '../../components/Button.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { Card } from '../../components/Page.tsx';
import { AnswerDialog } from '../../components/questions/AnswerDialog.tsx';
import { QuestionText } from '../../components/questions/Question.tsx';
import type { Search } from '../../lib/search.ts';
import { visible } from '../../lib/visible.ts';
import { words } from '../../lib/words.ts';
import styles from './Report.module.css';

type TopQuestion = ShadowReport['questions']['top'][number];

/** The questions of the period, with those whose answers would end most of what is asked, and buttons to answer them. */
export function Questions({ report, filters }: { report: ShadowReport; filters: Search }) {
  const { message, top } = report.questions;
  const [doing, setDoing] = useState<{ question: TopQuestion; answer: 'YES' | 'NO' } | null>(null);
  return (
    <Card
      title="Questions"
      flush={top.length > 0}
      aside={
        report.agent !== null && <Link to={`/agents/${report.agent.slug}/answers`}>See all answers</Link>
      }
    >
      <p className={top.length > 0 ? styles.inQuestions : undefined}>{message}</p>
      <ul>
        {top.map((question) => (
          <Proposed
            key={question.agent.id + question.question_id}
            question={question}
            filters={filters}
            onAnswer={(answer) => setDoing({ question, answer })}
          />
        ))}
      </ul>
      {doing !== null && (
        <AnswerDialog agent={doing.question.agent.slug} {...doing} onClose={() => setDoing(null)} />
      )}
    </Card>
  );
}

function Proposed({
  question,
  filters,
  onAnswer,
}: {
  question: TopQuestion;
  filters: Search;
  onAnswer: (answer: 'YES' | 'NO') => void;
}) {
  const { agent, question_id, merchant, kind, asked, sentence } = question;
  const why = !useMay('review') && WHY_NOT.review;
  const button = (answer: 'YES' | 'NO', text: string) => (
    <Button
      small
      kind={answer === 'NO' ? 'danger' : undefined}
      why={why}
      aria-label={`${text}: ${visible(sentence)}`}
      onClick={() => onAnswer(answer)}
    >
      {text}
    </Button>
  );
  return (
    <li className={styles.proposed}>
      <div>
        <p className={styles.sub}>
          {visible(merchant)} · {words(kind)} · <AgentName of={agent} /> ·{' '}
          <Link to="/decisions" search={{ ...filters, agent: agent.slug, question_id }}>
            asked {asked === 1 ? 'once' : `${asked} times`}
          </Link>
        </p>
        <QuestionText question={question} />
      </div>
      <div className={styles.answers}>
        {button('YES', 'Answer yes')}
        {button('NO', 'Answer no')}
      </div>
    </li>
  );
}
