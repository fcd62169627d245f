import {
  type BUDGET_PERIODS,
  type BUDGET_STATUSES,
  DEFAULT_ALERT_PERCENTS,
  MAX_BUDGET_DEPTH,
} from '@purser/contract/values/budgets';
import { localTime } from '../values/calendar.ts';
import { valueIn } from '../values/maps.ts';
import type { CountedSlot } from './counters.ts';
import { type CounterWindow, slotAt } from './windows.ts';

/** A budget that several agents share. Its counter has the same id. */
export interface SharedBudget {
  budget_id: string;
  slug: string;
  name: string;
  /** ISO 4217. */
  currency: string;
  period: (typeof BUDGET_PERIODS)[number];
  /** Time zone of the period: a name of the IANA database. */
  time_zone: string;
  /** Minor units of `currency`. */
  limit_minor: number;
  /** The budget that this one is a part of: what counts here counts there too. */
  parent_id: string | null;
  /** A frozen budget denies every spend. */
  status: (typeof BUDGET_STATUSES)[number];
  /** JSON of the percentages at which it alerts; null: `DEFAULT_ALERT_PERCENTS`. */
  alert_percents: string | null;
  /** The start of the period (ISO UTC) of which was last told how much is used, and of which threshold; null: of none yet. */
  told_period: string | null;
  told_percent: number | null;
  created_at: string;
  updated_at: string;
}

/** A shared budget with what is in its counter. */
export interface LoadedBudget extends SharedBudget {
  slots: readonly CountedSlot[];
}

/** The percentages of its limit at which a budget alerts, ascending; each once a period. */
export function alertPercentsOf({ alert_percents }: Pick<SharedBudget, 'alert_percents'>): readonly number[] {
  return alert_percents === null ? DEFAULT_ALERT_PERCENTS : (JSON.parse(alert_percents) as number[]);
}

/** There are no more than time zones that the zone data knows, for each period. */
const WINDOWS = new Map<string, CounterWindow>();

/** Over what time a budget counts; one object for each window, by which its slot is known. */
export function budgetWindow({
  period,
  time_zone,
}: Pick<SharedBudget, 'period' | 'time_zone'>): CounterWindow {
  return valueIn(WINDOWS, `${period} ${time_zone}`, () =>
    period === 'TOTAL' ? { type: period } : { type: period, time_zone },
  );
}

/**
 * The budget with this slug, followed by all above it, the nearest first. Throws Error where one of them is not there, or where
 * there are more than may be: no budget is ever deleted, and nothing may pass because one of them was not looked at.
 */
export function budgetChain(slug: string, all: readonly SharedBudget[]): SharedBudget[] {
  const chain: SharedBudget[] = [];
  let next = all.find((each) => each.slug === slug);
  while (next !== undefined && chain.length < MAX_BUDGET_DEPTH) {
    chain.push(next);
    const { parent_id } = next;
    if (parent_id === null) return chain;
    next = all.find((each) => each.budget_id === parent_id);
  }
  throw new Error(`the shared budget "${slug}", or one of its parents, is missing`);
}

/** The budgets that a spend counts in: those that are named, each with all above it, each once. */
export function budgetsOf(slugs: readonly string[], all: readonly SharedBudget[]): SharedBudget[] {
  return [...new Set(slugs.flatMap((slug) => budgetChain(slug, all)))];
}

/** A budget as it is shown, without how it stands. `all`: the budgets of its workspace. */
export function shownBudget(budget: SharedBudget, all: readonly SharedBudget[]) {
  const { budget_id: id, slug, name, currency, period, time_zone, limit_minor, parent_id, status } = budget;
  const parent = all.find((each) => each.budget_id === parent_id)?.slug ?? null;
  const alert_percents = [...alertPercentsOf(budget)];
  return { id, slug, name, currency, period, time_zone, limit_minor, parent, status, alert_percents };
}

/** The period that a moment lies in, in words that stand behind "for": "2026-11", "2026-Q4"; empty for all time. */
export function periodName(window: CounterWindow, at_ms: number): string {
  if (window.type === 'TOTAL' || window.type === 'ROLLING') return '';
  const date = localTime(window.time_zone, slotAt(window, at_ms).starts_ms).slice(0, 10);
  const [year, month] = date.split('-') as [string, string];
  const names: Record<typeof window.type, string> = {
    DAY: date,
    WEEK: `the week from ${date}`,
    MONTH: `${year}-${month}`,
    QUARTER: `${year}-Q${Math.ceil(Number(month) / 3)}`,
    YEAR: year,
  };
  return names[window.type];
}
