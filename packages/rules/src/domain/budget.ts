/** The largest sum that a month's counter may reach: the largest integer that a JSON number carries exactly. */
const MAX_SUM_MINOR = Number.MAX_SAFE_INTEGER;

/** Held and spent amounts of one agent in one calendar month (UTC) and currency. Minor units. */
export interface BudgetCounter {
  held_minor: number;
  committed_minor: number;
}

/** The counter of a month in which nothing was asked for yet. */
export const NOTHING_SPENT: BudgetCounter = { held_minor: 0, committed_minor: 0 };

/** A budget counter with its key. */
export interface BudgetRow extends BudgetCounter {
  agent_id: string;
  /** `2026-11`. */
  period: string;
  currency: string;
}

/** A counter beside its limit. `limit_minor` and `remaining_minor` are null where no limit is set. */
export interface BudgetStatus extends BudgetCounter {
  limit_minor: number | null;
  remaining_minor: number | null;
}

let last_ms = Number.NaN;
let last_period = '';

/** The calendar month (UTC) of a moment, `2026-11`. Cached, since all decisions of a batch have one timestamp. */
export function periodOf(time_ms: number): string {
  if (time_ms !== last_ms) {
    last_period = new Date(time_ms).toISOString().slice(0, 7);
    last_ms = time_ms;
  }
  return last_period;
}

/** When the next calendar month (UTC) begins. Milliseconds since 1970 UTC. */
export function nextPeriodMs(time_ms: number): number {
  const now = new Date(time_ms);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
}

/** The remaining amount for a new spend, 0 or more. Without a limit: the rest of the counter's exact range. */
export function remainingMinor(counter: BudgetCounter, limit_minor: number | null): number {
  // Each subtraction stays within the safe integers; the sum of the two counters might not.
  const left = (limit_minor ?? MAX_SUM_MINOR) - counter.held_minor - counter.committed_minor;
  return Math.max(0, left);
}

/** A counter with its limit, as the API shows it. */
export function budgetStatus(counter: BudgetCounter, limit_minor: number | null): BudgetStatus {
  return {
    limit_minor,
    held_minor: counter.held_minor,
    committed_minor: counter.committed_minor,
    remaining_minor: limit_minor === null ? null : remainingMinor(counter, limit_minor),
  };
}
