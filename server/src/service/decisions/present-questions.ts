import type { AskedQuestionBody } from '@purser/contract/routes/questions';
import { MAX_EARLIER, MAX_EXAMPLES, MAX_PENDING } from '@purser/contract/routes/questions';
import type { Author, QuestionEvent, QuestionRow } from '@purser/rules/domain/question-history';
import { questionId } from '@purser/rules/domain/questions';
import { HISTORY_NAMES } from '@purser/rules/purpose/reading/precedents';
import type { Static } from 'typebox';
import type { Queryable } from '../../engine/storage/database.ts';
import { loadQuestionViews, type QuestionView } from '../../engine/storage/derived/questions.ts';

type AskedQuestion = Static<typeof AskedQuestionBody>;

const amountsOf = (minor: Readonly<Record<string, number>>) =>
  Object.entries(minor).map(([currency, amount_minor]) => ({ currency, amount_minor }));

const nameOf = ({ key_id, principal_id }: Author) => principal_id ?? key_id ?? 'unknown';

/** The events are of the newest first, so the one in force comes before those that it replaced. */
const earlierAnswers = ({ earlier }: QuestionView, { answer }: QuestionRow): AskedQuestion['earlier'] =>
  (answer === null ? earlier : earlier.slice(1)).slice(0, MAX_EARLIER).map((event) => ({
    answer: event.what === 'YES' || event.what === 'NO' ? event.what : null,
    by: nameOf(event),
    at: event.at,
    comment: event.comment,
    decision_id: event.decision_id,
  }));

const exampleOf = ({ decision_id, amount_minor, currency, payee_id, at }: QuestionEvent) => ({
  decision_id: decision_id as string,
  amount_minor: amount_minor as number,
  currency: currency as string,
  payee_id,
  asked_at: at,
});

/** A question as the API shows it. `objective`: that of the agent's authority; null without one. */
function questionBody(row: QuestionRow, view: QuestionView, objective: string | null): AskedQuestion {
  const { question_id, kind, merchant, about, sentence, asked, asked_for, answer } = row;
  const merchant_key = HISTORY_NAMES.merchant(merchant);
  return {
    question_id,
    kind,
    merchant,
    about,
    sentence,
    of_present_objective:
      objective !== null && questionId(objective, { kind, merchant_key, about }) === question_id,
    asked,
    pending: view.pending,
    first_asked_at: row.first_asked_at,
    last_asked_at: row.last_asked_at,
    amounts: amountsOf(asked_for.minor),
    payee_ids: asked_for.payee_ids.flatMap((payee_id) => payee_id ?? []),
    examples: view.examples.map(exampleOf),
    answered: answer && {
      answer: answer.answer,
      by: answer.by,
      at: answer.at,
      comment: answer.comment,
      decision_id: answer.decision_id,
      allowed: amountsOf(answer.allowed_minor),
    },
    earlier: earlierAnswers(view, row),
  };
}

/** Presents questions with their examples, earlier answers and pending reviews. `objectiveOf`: of an agent, by id. */
export async function presentQuestions(
  db: Queryable,
  workspace_id: string,
  rows: readonly QuestionRow[],
  objectiveOf: (agent_id: string) => string | null,
): Promise<AskedQuestion[]> {
  if (rows.length === 0) return [];
  const max = { examples: MAX_EXAMPLES, answers: MAX_EARLIER + 1, pending: MAX_PENDING };
  const views = await loadQuestionViews(db, workspace_id, rows, max);
  return rows.map((row) =>
    questionBody(
      row,
      views.get(`${row.agent_id} ${row.question_id}`) as QuestionView,
      objectiveOf(row.agent_id),
    ),
  );
}
