import { route } from '@purser/contract/route';
import {
  BUDGET_STATUSES,
  type LoadedBudget,
  MAX_BUDGET_DEPTH,
  MAX_BUDGETS,
  type SharedBudget,
  shownBudget,
} from '@purser/rules/counters/shared-budgets';
import { ApiError } from '@purser/rules/errors';
import { budgetStandings } from '@purser/rules/policy/shared-budgets';
import type pg from 'pg';
import Type from 'typebox';
import { createBudget } from '../../../engine/commands/budgets/create-budget.ts';
import { updateBudget } from '../../../engine/commands/budgets/update-budget.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import { readClock } from '../../../engine/storage/workspaces.ts';
import { readBudgets } from '../../decisions/shared-budgets.ts';
import { type Cursors, pageOf } from '../../http/cursors.ts';
import { type Route, serve } from '../../http/route.ts';
import { Currency, Fields, OneOf, PageQuery, page, Slug, TimeZone } from '../../http/schemas.ts';
import { originOf } from '../../people/callers.ts';
import { BudgetBody, BudgetLimit, BudgetName, BudgetPeriod, type ShownBudget } from '../schemas/budgets.ts';

const CreateBody = Fields(
  {
    slug: Slug({ description: 'The name that authorities use for it.', examples: ['marketing'] }),
    name: Type.Optional(BudgetName),
    currency: Currency(),
    period: BudgetPeriod,
    time_zone: Type.Optional(TimeZone({ description: 'Time zone of the period; defaults to `UTC`.' })),
    limit_minor: BudgetLimit,
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
    status: Type.Optional(OneOf(BUDGET_STATUSES, { description: 'A `frozen` budget denies new spends.' })),
  },
  { $id: 'UpdateBudgetRequest' },
);

const IdParams = Fields({ id: Type.String({ description: "The budget's id or slug." }) });
const ListQuery = Fields(PageQuery);

function budgetBody(loaded: LoadedBudget, all: readonly SharedBudget[], now_ms: number): ShownBudget {
  const { created_at, updated_at } = loaded;
  const [counted] = budgetStandings([loaded], now_ms);
  const { counter_id, ...standing } = counted as NonNullable<typeof counted>;
  return { ...shownBudget(loaded, all), standing, created_at, updated_at };
}

const routes = {
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
      'Changes its name, limit or status from the next decision on. A limit below the amount used stops further spends and undoes nothing. A frozen budget denies every new spend, and no review in ENFORCE can allow a pending one (409 `budget_frozen`). Held amounts stay held, and capabilities issued earlier may still be consumed.',
    scopes: ['admin'],
    weighs: 'by_request',
    params: IdParams,
    body: UpdateBody,
    responses: { 200: { description: 'The budget.', schema: BudgetBody } },
    errors: ['not_found'],
  }),
};

/** The budgets that several agents share. */
export function makeBudgetRoutes(options: { db: pg.Pool; lane: Lane; cursors: Cursors }): Route[] {
  const { db, lane, cursors } = options;

  /** The budget as it stands now. Throws ApiError `not_found`. */
  async function standing(workspace_id: string, ref: string) {
    const all = await readBudgets(db, workspace_id);
    const found = all.find(({ budget_id, slug }) => budget_id === ref || slug === ref);
    if (found === undefined) throw new ApiError('not_found', 'No such shared budget.');
    return budgetBody(found, all, await readClock(db));
  }

  return [
    serve(routes.createBudget)(async (call) => {
      const { workspace_id } = call.caller;
      const { budget_id } = await lane.submit(workspace_id, createBudget, call.body, originOf(call));
      return { status: 201, body: await standing(workspace_id, budget_id) };
    }),
    serve(routes.listBudgets, { shares: 'reads' })(async (call) => {
      const { limit = 50, cursor } = call.query;
      const { workspace_id } = call.caller;
      const list = ['listBudgets', workspace_id];
      const before = cursors.open(list, cursor) as string | null;
      const all = await readBudgets(db, workspace_id);
      const now_ms = await readClock(db);
      const rest = all.filter(({ budget_id }) => before === null || budget_id < before).reverse();
      const { rows, next_cursor } = pageOf(rest, limit, (last) => cursors.seal(list, last.budget_id));
      return { status: 200, body: { data: rows.map((row) => budgetBody(row, all, now_ms)), next_cursor } };
    }),
    serve(routes.getBudget, { shares: 'reads' })(async (call) => ({
      status: 200,
      body: await standing(call.caller.workspace_id, call.params.id),
    })),
    serve(routes.updateBudget, {
      isWeighty: ({ body }) => body.limit_minor !== undefined || body.status === 'active',
    })(async (call) => {
      const { workspace_id } = call.caller;
      const input = { budget: call.params.id, changes: call.body };
      const { budget_id } = await lane.submit(workspace_id, updateBudget, input, originOf(call));
      return { status: 200, body: await standing(workspace_id, budget_id) };
    }),
  ];
}
