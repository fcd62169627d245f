import { Type } from 'typebox';
import { TEXT_LENGTHS } from '../limits.ts';
import { AboutBody, ANSWERS, QUESTION_KINDS } from '../purpose/questions.ts';
import { route } from '../route.ts';
import {
  AgentRef,
  Currency,
  Fields,
  Id,
  LimitMinor,
  Line,
  LongText,
  Nullable,
  OneOf,
  PageQuery,
  page,
  QuerySeveral,
  Timestamp,
} from '../schema.ts';

/** Decisions that a question shows as examples. */
export const MAX_EXAMPLES = 3;
/** Earlier answers that a question shows. */
export const MAX_EARLIER = 20;
/** Payees that a question names. */
export const MAX_PAYEES = 20;
/** The count of pending reviews of one question stops at this number. */
export const MAX_PENDING = 1_000;
/** Pending reviews that are grouped by question: the newest of the workspace. */
export const MAX_GROUPED = 10_000;

const Amounts = (description: string) =>
  Type.Array(Fields({ currency: Currency(), amount_minor: LimitMinor() }), { description });

const GIVEN = {
  by: Type.String({ description: 'The principal who answered, or the key where it has none.' }),
  at: Timestamp(),
  comment: Nullable(Type.String()),
  decision_id: Nullable(
    Id('decision', {
      description: 'The decision whose review or label answered it; null: it was answered itself.',
    }),
  ),
};

const QUESTION = {
  question_id: Id('question'),
  kind: OneOf(QUESTION_KINDS),
  merchant: Type.String({ description: 'The name as it was first given.' }),
  about: Nullable(AboutBody),
  sentence: Type.String({ description: 'The question to a reviewer.' }),
  of_present_objective: Type.Boolean({
    description: 'False: it was asked under another objective, so its answer has no effect now.',
  }),
  asked: Type.Integer({ minimum: 1, description: 'Decisions that asked it while it was open.' }),
  pending: Type.Integer({
    minimum: 0,
    maximum: MAX_PENDING,
    description: `Pending reviews of decisions that asked it; ${MAX_PENDING} means ${MAX_PENDING} or more. List them with \`GET /v1/decisions?agent=…&question_id=…&review_state=PENDING\`.`,
  }),
  first_asked_at: Timestamp(),
  last_asked_at: Timestamp(),
  amounts: Amounts('The largest amount that asked it, by currency.'),
  payee_ids: Type.Array(Type.String(), {
    maxItems: MAX_PAYEES,
    description: 'Payees of the spends that asked it.',
  }),
  examples: Type.Array(
    Fields({
      decision_id: Id('decision'),
      amount_minor: LimitMinor(),
      currency: Currency(),
      payee_id: Nullable(Type.String()),
      asked_at: Timestamp(),
    }),
    { maxItems: MAX_EXAMPLES, description: 'The newest decisions that asked it, newest first.' },
  ),
  answered: Nullable(
    Fields({
      answer: OneOf(ANSWERS),
      ...GIVEN,
      allowed: Amounts(
        'YES: the largest amounts that people allowed. Up to three times these, or the review threshold where that is higher, nobody is asked again.',
      ),
    }),
  ),
  earlier: Type.Array(
    Fields({
      answer: Nullable(OneOf(ANSWERS, { description: 'Null: an administrator forgot the answer before.' })),
      ...GIVEN,
    }),
    { maxItems: MAX_EARLIER, description: 'Answers before the present one, newest first.' },
  ),
};

export const AskedQuestionBody = Fields(QUESTION, {
  $id: 'AskedQuestion',
  description: "A question that an agent's decisions asked, with its answer.",
});

const PendingBody = Fields(
  {
    agent: Fields({ id: Id('agent'), slug: Type.String() }),
    ...QUESTION,
  },
  { $id: 'PendingQuestion' },
);

const IdParams = Fields({ id: Type.String({ description: "The agent's id or slug." }) });
const QuestionParams = Fields({ ...IdParams.properties, question_id: Type.String() });

const ListQuery = Fields({
  state: Type.Optional(OneOf(['open', 'answered'])),
  kind: Type.Optional(QuerySeveral(OneOf(QUESTION_KINDS))),
  merchant: Type.Optional(
    Line({ max: TEXT_LENGTHS.merchant }, { description: "Part of the merchant's name, case-insensitive." }),
  ),
  ...PageQuery,
});

const AnswerBody = Fields(
  {
    answer: OneOf(ANSWERS, {
      description:
        'YES: it is no doubt any more, up to three times the largest amount that asked it. NO: a spend that raises it is misaligned.',
    }),
    comment: Type.Optional(LongText({ max: TEXT_LENGTHS.description })),
  },
  { $id: 'AnswerRequest' },
);

export const routes = {
  listQuestions: route({
    method: 'GET',
    path: '/v1/agents/:id/questions',
    operationId: 'listQuestions',
    tag: 'Questions',
    summary: "List an agent's questions",
    description:
      'What made spends of the agent unclear, each question once, with its answer. The one that was asked or answered last comes first.',
    scopes: ['read'],
    params: IdParams,
    query: ListQuery,
    responses: {
      200: {
        description: 'A page of questions.',
        schema: page(AskedQuestionBody, { $id: 'AskedQuestionPage' }),
      },
    },
    errors: ['not_found'],
  }),
  answerQuestion: route({
    method: 'POST',
    path: '/v1/agents/:id/questions/:question_id/answer',
    operationId: 'answerQuestion',
    tag: 'Questions',
    summary: 'Answer a question',
    description:
      'The answer counts from the next decision on, on every node, and replaces an earlier one, which stays visible. Pending reviews stay pending: `pending` counts them. Who requested one of the spends cannot answer.',
    scopes: ['review'],
    params: QuestionParams,
    body: AnswerBody,
    responses: { 200: { description: 'The question with its answer.', schema: AskedQuestionBody } },
    errors: ['not_found', 'self_review_forbidden'],
  }),
  forgetAnswer: route({
    method: 'DELETE',
    path: '/v1/agents/:id/questions/:question_id/answer',
    operationId: 'forgetAnswer',
    tag: 'Questions',
    summary: 'Forget an answer',
    description:
      'The question is open again from the next decision on, on every node. The answer stays visible as an earlier one. Forgetting it again changes nothing.',
    scopes: ['admin'],
    params: QuestionParams,
    responses: { 204: { description: 'The question is open.', schema: null } },
    errors: ['not_found'],
  }),
  listPendingQuestions: route({
    method: 'GET',
    path: '/v1/questions',
    operationId: 'listPendingQuestions',
    tag: 'Questions',
    summary: 'List the questions of pending reviews',
    description: `The open questions of pending reviews, that of the most reviews first, to answer reviews together. Of a workspace with more, the newest ${MAX_GROUPED.toLocaleString('en')} pending reviews count. One page.`,
    scopes: ['read'],
    query: Fields({ agent: Type.Optional(AgentRef()), limit: PageQuery.limit }),
    responses: {
      200: {
        description: 'The questions.',
        schema: page(PendingBody, { $id: 'PendingQuestionPage' }),
      },
    },
    errors: ['not_found'],
  }),
};
