import { type Static, Type } from 'typebox';
import { LIMIT_STANDING } from './limit-standing.ts';
import { TEXT_LENGTHS } from './limits.ts';
import { Fields, Id, LimitMinor, Line, Nullable, OneOf, Timestamp } from './schema.ts';
import { BUDGET_PERIODS, BUDGET_STATUSES } from './values/budgets.ts';

export const BudgetLimit = LimitMinor({
  description: 'The most that may be spent in a period, holds included, in minor units of `currency`.',
  examples: [600_000],
});

export const BudgetName = Line({ max: TEXT_LENGTHS.name }, { description: 'Defaults to the slug.' });

export const BudgetPeriod = OneOf(BUDGET_PERIODS, {
  description: 'The calendar period of `time_zone` after which the budget resets; `TOTAL` never resets.',
});

/** The settings of a shared budget, without its sums. */
const BUDGET = {
  id: Id('budget'),
  slug: Type.String(),
  name: Type.String(),
  currency: Type.String(),
  period: BudgetPeriod,
  time_zone: Type.String(),
  limit_minor: BudgetLimit,
  parent: Nullable(Type.String({ description: 'The slug of its parent budget.' })),
  status: OneOf(BUDGET_STATUSES),
};

export const BudgetBody = Fields(
  {
    ...BUDGET,
    standing: Fields(LIMIT_STANDING, { description: 'Its usage in the current period.' }),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  {
    $id: 'Budget',
    description: 'A budget that several agents share. Authorities name it in `budgets`.',
  },
);

export type ShownBudget = Static<typeof BudgetBody>;

/** The event data of a budget that reached a threshold. */
export const ReachedBudgetBody = Fields({
  percent: Type.Integer({ description: 'The threshold: 80 or 100.', examples: [80] }),
  budget: Fields(BUDGET),
  standing: Fields(LIMIT_STANDING, { description: 'Its usage after the decision.' }),
  decision_id: Id('decision', { description: 'The decision that reached the threshold.' }),
});
