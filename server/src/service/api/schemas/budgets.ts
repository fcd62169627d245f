import { BUDGET_PERIODS, BUDGET_STATUSES } from '@purser/rules/counters/shared-budgets';
import { TEXT_LENGTHS } from '@purser/rules/values/text';
import Type, { type Static } from 'typebox';
import { Fields, Id, LimitMinor, Line, Nullable, OneOf, Timestamp } from '../../http/schemas.ts';
import { LIMIT_STANDING } from './limits.ts';

export const BudgetLimit = LimitMinor({
  description: 'The most that may be spent of it in a period, holds included. Minor units of `currency`.',
  examples: [600_000],
});
export const BudgetName = Line({ max: TEXT_LENGTHS.name }, { description: 'The slug when left out.' });
export const BudgetPeriod = OneOf(BUDGET_PERIODS, {
  description: 'A stretch of the calendar of `time_zone`, after which it begins anew, or `TOTAL`: never.',
});

/** A shared budget without how it stands. */
const BUDGET = {
  id: Id('budget'),
  slug: Type.String(),
  name: Type.String(),
  currency: Type.String(),
  period: BudgetPeriod,
  time_zone: Type.String(),
  limit_minor: BudgetLimit,
  parent: Nullable(Type.String({ description: 'The slug of the budget that it is a part of.' })),
  status: OneOf(BUDGET_STATUSES),
};

export const BudgetBody = Fields(
  {
    ...BUDGET,
    standing: Fields(LIMIT_STANDING, { description: 'How it stands in the current period.' }),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  {
    $id: 'Budget',
    description: 'What several agents may spend together. Authorities name it in `budgets`.',
  },
);
export type ShownBudget = Static<typeof BudgetBody>;

/** What is told of a budget of which a threshold was reached. */
export const ReachedBudgetBody = Fields({
  percent: Type.Integer({ description: 'The threshold: 80 or 100.', examples: [80] }),
  budget: Fields(BUDGET),
  standing: Fields(LIMIT_STANDING, { description: 'How it stood after the decision.' }),
  decision_id: Id('decision', { description: 'The decision that reached it.' }),
});
