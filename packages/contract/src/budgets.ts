import { type Static, Type } from 'typebox';
import { LIMIT_STANDING } from './limit-standing.ts';
import { TEXT_LENGTHS } from './limits.ts';
import { AlertPercents, Fields, Id, LimitMinor, Line, Nullable, OneOf, Timestamp } from './schema.ts';
import { BUDGET_PERIODS, BUDGET_STATUSES } from './values/budgets.ts';

export const BudgetLimit = LimitMinor({
  description: 'The most that may be spent in a period, holds included, in minor units of `currency`.',
  examples: [600_000],
});

export const BudgetName = Line({ max: TEXT_LENGTHS.name }, { description: 'Defaults to the slug.' });

export const BudgetPeriod = OneOf(BUDGET_PERIODS, {
  description: 'The calendar period of `time_zone` after which the budget resets; `TOTAL` never resets.',
});

export const BudgetAlerts = AlertPercents({
  description:
    'Percentages of the limit at which `budget.threshold.reached` is published, each once a period; defaults to 80 and 100.',
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
  alert_percents: BudgetAlerts,
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

/** The event data of an agent's limit that reached one of its percentages. */
export const ReachedLimitBody = Fields({
  percent: Type.Integer({ description: 'The one of `alert_percents` that was reached.', examples: [80] }),
  agent: Fields({ id: Id('agent'), slug: Type.String({ examples: ['infra-bot'] }) }),
  limit: Fields(LIMIT_STANDING, {
    description: 'The monthly budget or velocity limit, with its usage after the decision.',
  }),
  decision_id: Id('decision', { description: 'The decision that reached it.' }),
});

/** The event data of a budget that reached a threshold. */
export const ReachedBudgetBody = Fields({
  percent: Type.Integer({
    description: "The one of the budget's `alert_percents` that was reached.",
    examples: [80],
  }),
  budget: Fields(BUDGET),
  standing: Fields(LIMIT_STANDING, { description: 'Its usage after the decision.' }),
  decision_id: Id('decision', { description: 'The decision that reached the threshold.' }),
});
