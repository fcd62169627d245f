import { eventOfAnswer } from '@purser/rules/domain/question-history';
import { type Command, done, refuse } from '../../lane/command.ts';
import type { QuestionRef } from '../../lane/questions.ts';

/** Opens a question again; its answers stay on record. Forgetting it again changes nothing. */
export const forgetAnswer: Command<QuestionRef, null> = {
  name: 'forgetAnswer',
  needs: ({ agent_id, question_id }) => ({ agents: [agent_id], questions: [{ agent_id, question_id }] }),
  apply(set, { agent_id, question_id }, origin) {
    const agent = set.agent(agent_id);
    const before = set.questions.row({ agent_id, question_id });
    if (agent === undefined || before === undefined)
      return refuse('not_found', 'The agent has no such question.');
    if (before.answer === null) return done(null);
    const { merchant, kind } = before;
    const of_question = { agent: agent.slug, merchant, kind };
    const given = { agent_id, question_id, answer: null, comment: null };
    set.audit('question.forgotten', { type: 'question', id: question_id }, origin, {
      from: { ...of_question, answer: before.answer.answer },
      to: { ...of_question, answer: null },
      state: { question_answer: given },
    });
    set.questions.add(eventOfAnswer(given, origin.actor, { seq: set.head.seq, at: set.now }));
    return done(null);
  },
};
