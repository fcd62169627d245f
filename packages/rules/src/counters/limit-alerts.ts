import type { CountedLimit, LimitStanding } from '@purser/contract/limit-standing';
import { calendarWindow } from '../values/calendar.ts';

/** An alert about a limit of an agent. There is one row for each limit, subject and percentage, of its newest alert. */
export interface LimitAlert {
  agent_id: string;
  /** The limit's counter, or `monthlyBudgetId`. */
  limit_id: string;
  /** As in `LimitStanding`; empty if all spends count together. */
  subject: string;
  percent: number;
  /** The end of the window (ISO UTC): before it, the same alert is not repeated. */
  until: string;
  decision_id: string;
}

/** The id of an agent's monthly budget among its limits. */
export const monthlyBudgetId = (currency: string): string => `monthly_budget_${currency}`;

/** The standing of an agent's monthly budget, in UTC. */
export function monthStanding(
  budget: {
    limit_minor: number | null;
    held_minor: number;
    committed_minor: number;
    remaining_minor: number | null;
  },
  now_ms: number,
): LimitStanding {
  const { limit_minor, held_minor, committed_minor, remaining_minor } = budget;
  const { starts_ms, ends_ms } = calendarWindow('MONTH', 'UTC', now_ms);
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    name: 'monthly_budget',
    kind: 'monthly_budget',
    subject: null,
    window: { type: 'MONTH', starts_at: iso(starts_ms), ends_at: iso(ends_ms) },
    limit_minor,
    used_minor: held_minor + committed_minor,
    remaining_minor,
    limit_count: null,
    used_count: null,
    counted_since: null,
  };
}

const reaches = (used: number | null, limit: number | null, percent: number): boolean =>
  // As whole numbers of any size: usage and limit may be as large as numbers are.
  used !== null && limit !== null && limit > 0 && BigInt(used) * 100n >= BigInt(limit) * BigInt(percent);

/** True if the usage of a limit, by amount or by count, is at least a percentage of it. A limit of 0 has no percentage. */
export function isReached(
  { used_minor, limit_minor, used_count, limit_count }: Omit<CountedLimit, 'counter_id'> | LimitStanding,
  percent: number,
): boolean {
  return reaches(used_minor, limit_minor, percent) || reaches(used_count, limit_count, percent);
}
