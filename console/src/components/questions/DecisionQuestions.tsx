import type { Decision, Question } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { AgentName } from '../names/AgentName.tsx';
import { AnswerBadge, AnsweredBy, QuestionText } from './Question.tsx';
import styles from './questions.module.css';
import { YesAndNo } from './Settles.tsx';

export const hasQuestions = ({ purpose }: Decision): boolean => (purpose.questions?.length ?? 0) > 0;

/**
 * The questions of a decision, open ones first: how often each was asked before, and the answer that the decision went by.
 * While the review is pending, also what its answer will settle.
 */
export function DecisionQuestions({ decision }: { decision: Decision }) {
  const { agent, purpose } = decision;
  const questions = [...(purpose.questions ?? [])].sort(
    (a, b) => Number(a.answered !== null) - Number(b.answered !== null),
  );
  return (
    <>
      <dl className={styles.list}>
        {questions.map((question) => (
          <div key={question.question_id}>
            <dt>
              <AnswerBadge answer={answerSince(decision, question) ?? question.answered?.answer ?? null} />
            </dt>
            <dd>
              <QuestionText question={question}>
                <p className={styles.soft}>
                  <AskedBefore question={question} />
                  {question.answered !== null && (
                    <>
                      {' '}
                      Answered before <AnsweredBy {...question.answered} />.
                    </>
                  )}
                  {answerSince(decision, question) !== null &&
                    ' Answered by the review or label of this request.'}
                </p>
              </QuestionText>
            </dd>
          </div>
        ))}
      </dl>
      {decision.review_state === 'PENDING' && <YesAndNo decision={decision} />}
      <p>
        <Link to={`/agents/${agent.slug}/answers`}>
          See all answers for <AgentName of={agent} />
        </Link>
      </p>
    </>
  );
}

/** The answer that the decision's review or label gave since. Null without one. */
function answerSince({ review, label }: Decision, { question_id }: Question): 'YES' | 'NO' | null {
  const records = [
    { record: label, is_yes: label?.label === 'PURPOSE_ALIGNED' },
    { record: review, is_yes: review?.action === 'ALLOW' },
  ];
  const found = records
    .filter(({ record }) => record?.questions.includes(question_id))
    .sort((a, b) => (b.record?.created_at ?? '').localeCompare(a.record?.created_at ?? ''));
  return found[0] === undefined ? null : found[0].is_yes ? 'YES' : 'NO';
}

function AskedBefore({ question: { asked_before } }: { question: Question }) {
  if (asked_before === 0) return <>Asked for the first time.</>;
  return (
    <>
      Asked {asked_before} {asked_before === 1 ? 'time' : 'times'} before.
    </>
  );
}
