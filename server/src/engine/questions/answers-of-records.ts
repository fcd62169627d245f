import type { Decision } from '@purser/contract/decisions';
import { answeredBy, deniedByDefault, doubted } from '@purser/contract/purpose/answered-by';
import type { Label, Review } from '@purser/contract/records';
import { answerIn, eventsOfRecord, newQuestion } from '@purser/rules/domain/question-history';
import type { QuestionRef } from '../lane/questions.ts';
import type { WorkingSet } from '../lane/working-set.ts';

/** The decision that a review or label is about, as it was read before: its questions and its requester never change. */
export interface ReadDecision {
  requesting_key_id: string | null;
  questions: readonly QuestionRef[];
}

/** Reads of a decision what a review or label needs. */
export function readDecision(decision: Decision | undefined): ReadDecision {
  return {
    requesting_key_id: decision?.requested_by.key_id ?? null,
    questions: (decision?.purpose.questions ?? []).map(({ question_id }) => ({
      agent_id: (decision as Decision).agent.id,
      question_id,
    })),
  };
}

/** Why these questions cannot be answered by a review or label of a decision; null: they can. */
export function unknownQuestion(decision: Decision, named: readonly string[] | null): string | null {
  const asked = new Set(decision.purpose.questions?.map(({ question_id }) => question_id));
  const at = named?.findIndex((question_id) => !asked.has(question_id)) ?? -1;
  return at === -1 ? null : `questions[${at}]: must be the id of a question of this decision`;
}

/**
 * The ids of the questions that a review or label answers. A DENY that names none answers only what was open or rejected, and
 * only where the purpose was a reason for the review: what it denies for another reason stays approved. A label is about the
 * purpose alone, so it withdraws approvals where nothing was open.
 */
export function questionsAnswered(
  decision: Decision,
  record: Pick<Review, 'action'> | Pick<Label, 'label'>,
  named: readonly string[] | null,
): string[] {
  const { questions = [] } = decision.purpose;
  const answer = answerIn(record);
  if (answer === null) return [];
  const idsOf = (answered: readonly { question_id: string }[]) =>
    answered.map(({ question_id }) => question_id);
  if (answer === 'YES' || named !== null) return idsOf(answeredBy(questions, answer, named ?? undefined));
  if (!('label' in record)) return idsOf(deniedByDefault(decision));
  const open = doubted(questions);
  return idsOf(answeredBy(open.length === 0 ? questions : open, 'NO'));
}

/** Answers the questions of a review or label, whose event is the last one of the chain. */
export function answerQuestions(set: WorkingSet, decision: Decision, record: Review | Label): void {
  for (const event of eventsOfRecord(decision, record, set.head.seq)) {
    const { question_id } = event;
    const question = decision.purpose.questions?.find((each) => each.question_id === question_id);
    if (question === undefined) continue;
    set.questions.add(event, newQuestion(decision.agent.id, question, decision.action.merchant, event));
  }
}
