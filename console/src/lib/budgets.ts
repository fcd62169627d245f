import type { Budget } from '@purser/sdk';
import { localTime } from './time.ts';

/** Budgets below one another, at most. The service refuses what is deeper. */
export const MAX_DEPTH = 4;

/** A budget, and how many there are above it. */
export interface Nested {
  budget: Budget;
  depth: number;
}

/** Budgets with those below each right after it, by their slugs. One whose parent is not among them stands at the top. */
export function nestedBudgets(budgets: readonly Budget[]): Nested[] {
  const known = new Set(budgets.map(({ slug }) => slug));
  const sorted = [...budgets].sort((a, b) => (a.slug < b.slug ? -1 : 1));
  const below = (parent: string | null, depth: number): Nested[] =>
    sorted
      .filter((each) => (each.parent !== null && known.has(each.parent) ? each.parent : null) === parent)
      .flatMap((budget) => [{ budget, depth }, ...below(budget.slug, depth + 1)]);
  return below(null, 0);
}

/** All budgets below one, whose spends count in it too. */
export function budgetsBelow(budgets: readonly Budget[], slug: string): Budget[] {
  return budgets
    .filter(({ parent }) => parent === slug)
    .flatMap((each) => [each, ...budgetsBelow(budgets, each.slug)]);
}

export const PERIODS = {
  DAY: 'a day',
  WEEK: 'a week',
  MONTH: 'a month',
  QUARTER: 'a quarter',
  YEAR: 'a year',
  TOTAL: 'in all',
} as const satisfies Record<Budget['period'], string>;

/** When what is counted begins anew: "a month (Europe/Berlin), begins anew Dec 1, 2026, 12:00 AM". */
export function periodInWords({ period, time_zone, standing }: Budget): string {
  if (period === 'TOTAL') return 'in all, never begins anew';
  return `${PERIODS[period]} (${time_zone ?? 'UTC'}), begins anew ${localTime(standing.window.ends_at)}`;
}
