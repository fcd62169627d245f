import type { AskedQuestion } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Loading } from '../../components/Page.tsx';
import { AnswerDialog } from '../../components/questions/AnswerDialog.tsx';
import { QuestionRow } from '../../components/questions/QuestionRow.tsx';
import { mostAsked } from '../../lib/questions.ts';
import styles from './Report.module.css';

/** Open questions that are looked at: the newest. */
const LOOKED_AT = 1_000;

/** The open questions of an agent's present objective. */
async function openQuestions(agent: string): Promise<AskedQuestion[]> {
  const open: AskedQuestion[] = [];
  for await (const question of purser.agents.questions.list(agent, { state: 'open', limit: 200 })) {
    if (question.of_present_objective) open.push(question);
    if (open.length === LOOKED_AT) break;
  }
  return open;
}

/** The questions whose answers would end most of what reviewers are asked, with buttons to answer them. */
export function OpenQuestions({ agent }: { agent: string }) {
  const query = useQuery({ queryKey: ['questions', 'open', agent], queryFn: () => openQuestions(agent) });
  const [doing, setDoing] = useState<{ question: AskedQuestion; answer: 'YES' | 'NO' } | null>(null);
  const open = query.data;
  const { questions, share } = mostAsked(open ?? []);
  return (
    <Card
      title="Questions"
      flush={questions.length > 0}
      aside={<Link to={`/agents/${agent}/answers`}>See all answers</Link>}
    >
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading lines={4} />}
      {open?.length === 0 && (
        <p>No open questions: nothing that this agent asked before would be asked again.</p>
      )}
      {open !== undefined && questions.length > 0 && (
        <>
          <p className={styles.inQuestions}>
            {inWords({ open: open.length, proposed: questions.length, share })}
          </p>
          <ul>
            {questions.map((question) => (
              <QuestionRow
                key={question.question_id}
                agent={agent}
                question={question}
                onDo={(what) => what !== 'forget' && setDoing({ question, answer: what })}
              />
            ))}
          </ul>
        </>
      )}
      {doing !== null && <AnswerDialog agent={agent} {...doing} onClose={() => setDoing(null)} />}
    </Card>
  );
}

function inWords({ open, proposed, share }: { open: number; proposed: number; share: number }): string {
  const all = `${open === LOOKED_AT ? `At least ${open}` : open} open ${open === 1 ? 'question' : 'questions'}.`;
  const these = proposed === 1 ? 'this one' : `these ${proposed}`;
  if (proposed === open) return `${all} Answer ${these}, and nothing asked so far would be asked again.`;
  return `${all} Answer ${these}, and ${Math.floor(share * 100)}% of what was asked would not be asked again.`;
}
