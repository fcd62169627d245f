import { formatMoney } from '@purser/mcp/money';
import type { AskedQuestion, ListQuestionsQuery } from '@purser/sdk';
import type { Context } from './context.ts';
import { EXIT } from './failure.ts';
import { oneLine } from './simulation-text.ts';

/** The lines that a reviewer needs about a question. */
function questionLines(question: AskedQuestion): string[] {
  const { question_id, merchant, sentence, kind, asked, pending, amounts, answered } = question;
  const largest = amounts.map(({ amount_minor, currency }) => formatMoney(amount_minor, currency)).join(', ');
  const outdated = question.of_present_objective ? '' : ' It was asked under another objective.';
  return [
    `${oneLine(sentence, 300)}   ${question_id}`,
    `  ${kind} at ${oneLine(merchant, 100)}: asked ${asked} times, up to ${largest}; ${pending} reviews pending.${outdated}`,
    answered === null
      ? '  Open.'
      : `  ${answered.answer}, by ${answered.by} at ${answered.at}${answered.comment === null ? '' : `: “${oneLine(answered.comment, 300)}”`}`,
  ];
}

export interface QuestionListOptions {
  state?: ListQuestionsQuery['state'];
  json?: boolean;
}

/** Lists an agent's questions with their answers, the one that was asked or answered last first. */
export async function listQuestions(
  context: Context,
  agent: string,
  { state, json }: QuestionListOptions,
): Promise<number> {
  const client = await context.client();
  let count = 0;
  for await (const question of client.agents.questions.list(agent, state === undefined ? {} : { state })) {
    count += 1;
    if (json) context.json(question);
    else context.say(...questionLines(question));
  }
  if (count === 0 && !json) context.say('No questions.');
  return EXIT.ok;
}

export interface AnswerOptions {
  yes?: boolean;
  comment?: string;
  json?: boolean;
}

/** Answers a question: YES with `yes`, otherwise NO. */
export async function answerQuestion(
  context: Context,
  agent: string,
  question_id: string,
  { yes, comment, json }: AnswerOptions,
): Promise<number> {
  const client = await context.client();
  const answered = await client.agents.questions.answer(agent, question_id, {
    answer: yes ? 'YES' : 'NO',
    ...(comment === undefined || comment === '' ? {} : { comment }),
  });
  if (json) context.json(answered);
  else context.say(...questionLines(answered));
  return EXIT.ok;
}

/** Opens a question again. */
export async function forgetAnswer(context: Context, agent: string, question_id: string): Promise<number> {
  const client = await context.client();
  await client.agents.questions.forget(agent, question_id);
  context.say(`${question_id} is open again.`);
  return EXIT.ok;
}
