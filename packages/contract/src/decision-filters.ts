import { Type } from 'typebox';
import { MAX_AMOUNT_MINOR, TEXT_LENGTHS } from './limits.ts';
import { REASON_CODES } from './reasons.ts';
import {
  AgentRef,
  AllowanceRef,
  Currency,
  Fields,
  Formed,
  IdIn,
  Line,
  OneOf,
  PageQuery,
  PrincipalId,
  QueryBoolean,
  QueryBound,
  QueryInteger,
  QuerySeveral,
} from './schema.ts';
import { MODES } from './values/agents.ts';
import { DECISIONS, LABELS, OUTCOME_STATES, REVIEW_STATES } from './values/decisions.ts';

const RequestedAmount = QueryInteger(
  { min: 0, max: MAX_AMOUNT_MINOR },
  { description: 'Inclusive, requested amount, minor units.' },
);

/** Filters of a list or export of decisions; all must match. */
export const DecisionFilterFields = {
  agent: Type.Optional(AgentRef()),
  decision: Type.Optional(QuerySeveral(OneOf(DECISIONS))),
  effective_decision: Type.Optional(
    QuerySeveral(OneOf(DECISIONS), {
      description: 'The effective decision; one or several, separated by commas.',
    }),
  ),
  mode: Type.Optional(QuerySeveral(OneOf(MODES))),
  reason: Type.Optional(
    QuerySeveral(OneOf(REASON_CODES), {
      description: 'Any of `reason_codes`; one or several, separated by commas.',
    }),
  ),
  review_state: Type.Optional(QuerySeveral(OneOf(REVIEW_STATES))),
  outcome_state: Type.Optional(QuerySeveral(OneOf(OUTCOME_STATES))),
  label: Type.Optional(
    QuerySeveral(
      Formed(
        `^(${LABELS.join('|')}|[a-z0-9][a-z0-9_.-]{0,62}:[^\\u0000]{1,128})$`,
        `must be one of ${LABELS.join(', ')}, or the key and the value of an allowance's label, such as customer:c42; a comma in a value is written \\,`,
      ),
      {
        description:
          'The current label of the decision, or the key and the value of a label of its allowance, such as `customer:c42`; one or several, separated by commas. In a value, a comma is written `\\,` and a backslash `\\\\`. Given both, both must match.',
        examples: [['customer:c42']],
      },
    ),
  ),
  allowance: Type.Optional(
    AllowanceRef({ description: 'Only decisions made under this allowance, or one below it.' }),
  ),
  currency: Type.Optional(QuerySeveral(Currency())),
  merchant: Type.Optional(
    Line({ max: TEXT_LENGTHS.merchant }, { description: 'The exact name, as requested.' }),
  ),
  q: Type.Optional(
    Line({ max: TEXT_LENGTHS.merchant }, { description: "Part of the merchant's name, case-insensitive." }),
  ),
  question_id: Type.Optional(
    IdIn('question', { description: 'Only decisions that asked this question while it was open.' }),
  ),
  min_amount: Type.Optional(RequestedAmount),
  max_amount: Type.Optional(RequestedAmount),
  reviewed: Type.Optional(QueryBoolean()),
  reviewed_by: Type.Optional(
    PrincipalId({ description: 'The principal of the current review, such as `user:ada`.' }),
  ),
  labeled: Type.Optional(QueryBoolean()),
  from: Type.Optional(QueryBound('from')),
  to: Type.Optional(QueryBound('to')),
  order: Type.Optional(
    OneOf(['asc', 'desc', 'expires'], {
      description:
        'By time; defaults to newest first (`desc`). `expires`: only pending reviews, soonest expiry first; those in SHADOW never expire and come last.',
    }),
  ),
};

/** The query of `GET /v1/decisions`. */
export const ListQuery = Fields({ ...DecisionFilterFields, ...PageQuery });
