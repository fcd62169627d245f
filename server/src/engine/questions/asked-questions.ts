import type { Decision } from '@purser/contract/decisions';
import type { QuestionAnswer } from '@purser/contract/purpose/questions';
import type { Agent } from '@purser/rules/domain/agents';
import {
  type AnswersRead,
  askedBy,
  type DecisionQuestion,
  eventsOfDecision,
  newQuestion,
} from '@purser/rules/domain/question-history';
import type { Answer, RaisedQuestion } from '@purser/rules/domain/questions';
import type { QuestionRef } from '../lane/questions.ts';
import type { WorkingSet } from '../lane/working-set.ts';
/** The questions that an assessment raised, and the answers that it looked up. */
export interface AssessedQuestions {
  /** Settled ones included. */
  questions: readonly RaisedQuestion[];
  answers: Pick<AnswersRead, 'version' | 'read' | 'is_whole'>;
}

interface Spend {
  agent_id: string;
  assessed: AssessedQuestions | null;
}

/** The questions that a spend raises or looked up the answers of. */
export function questionsOf({ agent_id, assessed }: Spend): QuestionRef[] {
  if (assessed === null) return [];
  const { questions, answers } = assessed;
  const ids = new Set([...questions.map(({ question_id }) => question_id), ...answers.read.keys()]);
  return [...ids].map((question_id) => ({ agent_id, question_id }));
}

/** The part of an answer that a judgement depends on. The same answer given again by somebody else changes nothing. */
const effectOf = (found: Answer | undefined) =>
  JSON.stringify(found && [found.answer, found.allowed_minor, found.payee_ids]);

/** Returns true if the answers in force are those that an assessment looked up, whatever else was answered since. */
export function hasSameAnswers(
  set: WorkingSet,
  { agent_id, answers_version }: Agent,
  { answers }: AssessedQuestions,
): boolean {
  if (answers.version === answers_version) return true;
  if (answers.is_whole) return false;
  return [...answers.read].every(
    ([question_id, found]) => effectOf(set.questions.answer({ agent_id, question_id })) === effectOf(found),
  );
}

/** The questions of a decision, each with the number of earlier decisions that asked it and the latest answer. */
export function questionsWithCounts(set: WorkingSet, { agent_id, assessed }: Spend): DecisionQuestion[] {
  const raised = new Map(assessed?.questions.map((question) => [question.question_id, question]));
  return [...raised.values()].map(({ question_id, kind, about, sentence, answered }) => {
    const row = set.questions.row({ agent_id, question_id });
    const { by, at, answer } = row?.answer ?? answered ?? {};
    return {
      question_id,
      kind,
      about,
      sentence,
      asked_before: row?.asked ?? 0,
      answered: answered === null ? null : ({ by, at, answer } as QuestionAnswer),
    };
  });
}

/** Counts the open questions of a new decision, whose event is the last one of the chain. */
export function countAsked(set: WorkingSet, made: Decision): void {
  const asked = askedBy(made.purpose);
  const { seq } = set.head;
  for (const [i, event] of eventsOfDecision(made, asked, seq).entries()) {
    const question = asked[i] as DecisionQuestion;
    set.questions.add(event, newQuestion(made.agent.id, question, made.action.merchant, event));
  }
}
