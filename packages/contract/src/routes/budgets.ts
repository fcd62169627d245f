import { Type } from 'typebox';
import { BudgetAlerts, BudgetBody, BudgetLimit, BudgetName, BudgetPeriod } from '../budgets.ts';
import { route } from '../route.ts';
import { Currency, Fields, OneOf, PageQuery, page, Slug, TimeZone } from '../schema.ts';
import { BUDGET_STATUSES, MAX_BUDGET_DEPTH, MAX_BUDGETS } from '../values/budgets.ts';

const CreateBody = Fields(
  {
    slug: Slug({ description: 'The name that authorities use for it.', examples: ['marketing'] }),
    name: Type.Optional(BudgetName),
    currency: Currency(),
    period: BudgetPeriod,
    time_zone: Type.Optional(TimeZone({ description: 'Time zone of the period; defaults to `UTC`.' })),
    limit_minor: BudgetLimit,
    alert_percents: Type.Optional(BudgetAlerts),
    parent: Type.Optional(
      Type.String({
        description: `Slug or id of the parent budget, in the same currency; budgets nest at most ${MAX_BUDGET_DEPTH} deep.`,
        examples: ['company'],
      }),
    ),
  },
  { $id: 'CreateBudgetRequest' },
);

const UpdateBody = Fields(
  {
    name: Type.Optional(BudgetName),
    limit_minor: Type.Optional(BudgetLimit),
    alert_percents: Type.Optional(BudgetAlerts),
    status: Type.Optional(OneOf(BUDGET_STATUSES, { description: 'A `frozen` budget denies new spends.' })),
  },
  { $id: 'UpdateBudgetRequest' },
);

const IdParams = Fields({ id: Type.String({ description: "The budget's id or slug." }) });

const ListQuery = Fields(PageQuery);

export const routes = {
  createBudget: route({
    method: 'POST',
    path: '/v1/budgets',
    operationId: 'createBudget',
    tag: 'Budgets',
    summary: 'Create a shared budget',
    description: `Limits what several agents may spend together, even when their requests race. A spend counts toward each budget that its agent's authority names in \`budgets\`, and toward all parents; each of them can cap or deny it. Slug, currency, period, time zone and parent cannot be changed later. A workspace may have at most ${MAX_BUDGETS}.`,
    scopes: ['admin'],
    body: CreateBody,
    responses: { 201: { description: 'The budget.', schema: BudgetBody } },
    errors: ['not_found', 'budget_exists', 'budget_limit'],
  }),
  listBudgets: route({
    method: 'GET',
    path: '/v1/budgets',
    operationId: 'listBudgets',
    tag: 'Budgets',
    summary: 'List the shared budgets',
    description: 'Newest first, each with its current usage.',
    scopes: ['read'],
    query: ListQuery,
    responses: {
      200: { description: 'A page of budgets.', schema: page(BudgetBody, { $id: 'BudgetPage' }) },
    },
    errors: [],
  }),
  getBudget: route({
    method: 'GET',
    path: '/v1/budgets/:id',
    operationId: 'getBudget',
    tag: 'Budgets',
    summary: 'Get a shared budget',
    description: 'With its current usage.',
    scopes: ['read'],
    params: IdParams,
    responses: { 200: { description: 'The budget.', schema: BudgetBody } },
    errors: ['not_found'],
  }),
  updateBudget: route({
    method: 'PATCH',
    path: '/v1/budgets/:id',
    operationId: 'updateBudget',
    tag: 'Budgets',
    summary: 'Change a shared budget',
    description:
      'Changes its name, limit, alert percentages or status from the next decision on. A limit below the amount used stops further spends and undoes nothing. A frozen budget denies every new spend, and no review in ENFORCE can allow a pending one (409 `budget_frozen`). Held amounts stay held, and capabilities issued earlier may still be consumed.',
    scopes: ['admin'],
    weighs: 'by_request',
    params: IdParams,
    body: UpdateBody,
    responses: { 200: { description: 'The budget.', schema: BudgetBody } },
    errors: ['not_found'],
  }),
};
