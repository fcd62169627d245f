import { CALENDAR_PERIODS } from '../calendar.ts';

/** The periods of a shared budget. `TOTAL` never resets. */
export const BUDGET_PERIODS = [...CALENDAR_PERIODS, 'TOTAL'] as const;
export const BUDGET_STATUSES = ['active', 'frozen'] as const;
/** The most shared budgets of a workspace. */
export const MAX_BUDGETS = 200;
/** The most budgets from one to the uppermost above it, both counted. */
export const MAX_BUDGET_DEPTH = 4;

/** Percentages at which a shared budget alerts unless it has its own. */
export const DEFAULT_ALERT_PERCENTS: readonly number[] = [80, 100];

export const LIMIT_KINDS = ['monthly_budget', 'velocity', 'duplicate', 'shared_budget', 'allowance'] as const;
