import type { Allowance } from '@purser/rules/counters/allowances';
import { LRUCache } from 'lru-cache';
import { loadChains } from '../../engine/allowances/allowance-rows.ts';
import type { AllowanceChain } from '../../engine/commands/allowances/chain.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { loadSharedBudgets } from '../../engine/storage/shared-budgets.ts';

/** Chains in the cache of a node. */
const MAX_CHAINS = 20_000;

/** Returns an allowance and all above it; undefined where the workspace has none of that id. */
export type ReadChain = (workspace_id: string, allowance_id: string) => Promise<AllowanceChain | undefined>;

/**
 * Makes the look-up. Bounds and words of an allowance never change once it is open, so chains are cached from then on. Only the
 * lane knows its usage, and whether it may still be used.
 */
export function makeReadChain(db: Queryable): ReadChain {
  const known = new LRUCache<string, AllowanceChain>({ max: MAX_CHAINS });
  return async (workspace_id, allowance_id) => {
    const name = `${workspace_id} ${allowance_id}`;
    const cached = known.get(name);
    if (cached !== undefined) return cached;
    const rows = await loadChains(db, workspace_id, [allowance_id]);
    const named = rows.get(allowance_id);
    if (named === undefined) return undefined;
    const allowances = chainIn(rows, named);
    const chain = { allowances, budgets: await budgetsOf(db, workspace_id, allowances) };
    if (allowances.every(({ status }) => status !== 'REQUESTED')) known.set(name, chain);
    return chain;
  };
}

/** An allowance and all above it, the nearest first. Throws where one is missing: none is ever deleted. */
export function chainIn(rows: ReadonlyMap<string, Allowance>, { path }: Allowance): Allowance[] {
  return path.map((id) => {
    const found = rows.get(id);
    if (found === undefined) throw new Error(`the allowance ${id} is missing`);
    return found;
  });
}

/** The slugs of the shared budgets of allowances, each once. */
async function budgetsOf(
  db: Queryable,
  workspace_id: string,
  allowances: readonly Allowance[],
): Promise<string[]> {
  const ids = new Set(allowances.flatMap(({ budget_id }) => budget_id ?? []));
  if (ids.size === 0) return [];
  const budgets = await loadSharedBudgets(db, [workspace_id]);
  return budgets.flatMap(({ budget_id, slug }) => (ids.has(budget_id) ? slug : []));
}
