import type { Budget } from '@purser/sdk';
import { localTime } from './time.ts';

/** The service's maximum nesting depth. */
export const MAX_DEPTH = 4;

/** A budget and the number of budgets above it. */
export interface Nested {
  budget: Budget;
  depth: number;
}

/** Orders budgets by slug, each followed by its children. A budget whose parent is missing is at the top level. */
export function nestedBudgets(budgets: readonly Budget[]): Nested[] {
  const known = new Set(budgets.map(({ slug }) => slug));
  const sorted = [...budgets].sort((a, b) => (a.slug < b.slug ? -1 : 1));
  const below = (parent: string | null, depth: number): Nested[] =>
    sorted
      .filter((each) => (each.parent !== null && known.has(each.parent) ? each.parent : null) === parent)
      .flatMap((budget) => [{ budget, depth }, ...below(budget.slug, depth + 1)]);
  return below(null, 0);
}

/** All budgets below one, at any depth. */
export function budgetsBelow(budgets: readonly Budget[], slug: string): Budget[] {
  return budgets
    .filter(({ parent }) => parent === slug)
    .flatMap((each) => [each, ...budgetsBelow(budgets, each.slug)]);
}

export const PERIODS = {
  DAY: 'per day',
  WEEK: 'per week',
  MONTH: 'per month',
  QUARTER: 'per quarter',
  YEAR: 'per year',
  TOTAL: 'in total',
} as const satisfies Record<Budget['period'], string>;

/** The periods as options of a select. */
export const PERIOD_OPTIONS = Object.entries(PERIODS).map(
  ([period, says]) => [period, says.charAt(0).toUpperCase() + says.slice(1)] as const,
);

/** A budget's period and its next reset: "per month (Europe/Berlin), resets Dec 1, 2026, 12:00 AM". */
export function periodInWords({ period, time_zone, standing }: Budget): string {
  if (period === 'TOTAL') return 'in total, never resets';
  return `${PERIODS[period]} (${time_zone ?? 'UTC'}), resets ${localTime(standing.window.ends_at)}`;
}
