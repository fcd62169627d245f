import { type Static, Type } from 'typebox';
import { Fields, Id, Nullable, OneOf, Timestamp } from '../schema.ts';

/**
 * The kinds of questions that a spend may raise, each settled by itself. `new_merchant`: nobody vouches for the merchant.
 * `new_payee`: people approved the merchant, but not this payee. `condition`: a clause sets a condition that nothing
 * shows to hold. `new_words`: words that nobody has allowed at this merchant. `other_goods`: goods of another trade than
 * the merchant's and the purpose's. `other_beneficiary`: a name that the operator did not mention. `missing_description`: the authority requires one. `too_long`: more text than is
 * assessed. `model`: the model's doubt. The others bear the name of the conflict that raised them.
 */
export const QUESTION_KINDS = [
  'new_merchant',
  'new_payee',
  'condition',
  'new_words',
  'other_goods',
  'missing_description',
  'too_long',
  'model',
  'planted_text',
  'prohibited',
  'switched_payee',
  'cash_like',
  'paid_already',
  'prohibited_attribute',
  'condition_denied',
  'other_source',
  'other_unit',
  'private_use',
  'other_beneficiary',
  'refund_elsewhere',
  'disguise',
  'rejected_before',
  'split_sum',
  'unusual_amount',
  'over_mark',
] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

export const ANSWERS = ['YES', 'NO'] as const;

export const AboutBody = Fields(
  {
    clause: Nullable(
      Fields({
        field: Type.String({ examples: ['purpose.constraints[0]'] }),
        text: Type.String(),
        hash: Type.String({ description: 'Of the text of the clause: an edited clause asks again.' }),
      }),
    ),
    words: Type.Array(Type.String(), { description: 'What met it: words of the request, or the payee.' }),
  },
  { $id: 'QuestionSubject' },
);

/** The subject of a question: the clause that it hangs on and the words that met it. */
export interface QuestionSubject extends Static<typeof AboutBody> {}

const AnswerBody = Fields(
  {
    by: Type.String({ description: 'The principal who answered, or the key where it has none.' }),
    at: Timestamp(),
    answer: OneOf(ANSWERS),
  },
  { $id: 'QuestionAnswer' },
);

/** The latest answer to a question. */
export interface QuestionAnswer extends Static<typeof AnswerBody> {}

export const QuestionBody = Fields(
  {
    question_id: Id('question'),
    kind: OneOf(QUESTION_KINDS),
    about: Nullable(AboutBody),
    sentence: Type.String({ description: 'What a reviewer is asked.' }),
    asked_before: Type.Integer({ minimum: 0, description: 'Earlier decisions of the agent that asked it.' }),
    answered: Nullable(AnswerBody),
  },
  { $id: 'Question' },
);

/**
 * A question that a decision asked, or that an earlier answer had settled. `about`: null for the merchant itself. `answered`: the
 * answer that the decision went by, null where the question was open.
 */
export interface Question extends Static<typeof QuestionBody> {}
