import { type Author, eventOfAnswer, type QuestionRow } from '@purser/rules/domain/question-history';
import { isOwnRequest } from '@purser/rules/domain/reviews';
import { type Command, done, refuse } from '../../lane/command.ts';
import type { QuestionRef } from '../../lane/questions.ts';
import { isMakerOf, MAKER_FORBIDDEN, reviewerOf, separatesMakers } from '../reviews/separation.ts';

export interface AnswerQuestionInput extends QuestionRef {
  answer: 'YES' | 'NO';
  comment: string | null;
  /** The requesters of the spends that asked it. */
  requesters: readonly (Author & { key_id: string })[];
}

/** Answers a question by itself, for all spends that asked it. Refused for their requesters, as a review is. */
export const answerQuestion: Command<AnswerQuestionInput, QuestionRow> = {
  name: 'answerQuestion',
  needs: ({ agent_id, question_id, requesters }) => ({
    agents: [agent_id],
    questions: [{ agent_id, question_id }],
    keys: requesters.map(({ key_id }) => key_id),
    workspace: true,
    reviewers: true,
  }),
  apply(set, { agent_id, question_id, answer, comment, requesters }, origin) {
    const agent = set.agent(agent_id);
    const before = set.questions.row({ agent_id, question_id });
    if (agent === undefined || before === undefined)
      return refuse('not_found', 'The agent has no such question.');
    if (requesters.some((requester) => isOwnRequest(requester, origin.actor)))
      return refuse('self_review_forbidden', 'The requester of a spend cannot answer what it raised.');
    const reviewer = reviewerOf(set, origin);
    const is_maker = requesters.some(({ key_id }) => isMakerOf(set, key_id, reviewer));
    if (is_maker && separatesMakers(set, reviewer)) return refuse('self_review_forbidden', MAKER_FORBIDDEN);
    const { merchant, kind } = before;
    const of_question = { agent: agent.slug, merchant, kind };
    const given = { agent_id, question_id, answer, comment };
    set.audit('question.answered', { type: 'question', id: question_id }, origin, {
      from: {
        ...of_question,
        answer: before.answer?.answer ?? null,
        comment: before.answer?.comment ?? null,
      },
      to: { ...of_question, answer, comment },
      state: { question_answer: given },
    });
    return done(set.questions.add(eventOfAnswer(given, origin.actor, { seq: set.head.seq, at: set.now })));
  },
};
