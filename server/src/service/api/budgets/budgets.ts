import type { ShownBudget } from '@purser/contract/budgets';
import { routes } from '@purser/contract/routes/budgets';
import { type LoadedBudget, type SharedBudget, shownBudget } from '@purser/rules/counters/shared-budgets';
import { ApiError } from '@purser/rules/errors';
import { budgetStandings } from '@purser/rules/policy/shared-budgets';
import type pg from 'pg';
import { createBudget } from '../../../engine/commands/budgets/create-budget.ts';
import { updateBudget } from '../../../engine/commands/budgets/update-budget.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import { readClock } from '../../../engine/storage/workspaces.ts';
import { readBudgets } from '../../decisions/shared-budgets.ts';
import { type Cursors, pageOf } from '../../http/cursors.ts';
import { type Route, serve } from '../../http/route.ts';
import { originOf } from '../../people/callers.ts';

function budgetBody(loaded: LoadedBudget, all: readonly SharedBudget[], now_ms: number): ShownBudget {
  const { created_at, updated_at } = loaded;
  const [counted] = budgetStandings([loaded], now_ms);
  const { counter_id, held_minor, ...standing } = counted as NonNullable<typeof counted>;
  return { ...shownBudget(loaded, all), standing, created_at, updated_at };
}

/** The budgets that several agents share. */
export function makeBudgetRoutes(options: { db: pg.Pool; lane: Lane; cursors: Cursors }): Route[] {
  const { db, lane, cursors } = options;

  /** Returns the budget with its present sums. Throws ApiError `not_found`. */
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
      isWeighty: ({ body }) =>
        body.limit_minor !== undefined || body.alert_percents !== undefined || body.status === 'active',
    })(async (call) => {
      const { workspace_id } = call.caller;
      const input = { budget: call.params.id, changes: call.body };
      const { budget_id } = await lane.submit(workspace_id, updateBudget, input, originOf(call));
      return { status: 200, body: await standing(workspace_id, budget_id) };
    }),
  ];
}
