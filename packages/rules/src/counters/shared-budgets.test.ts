import { MAX_BUDGET_DEPTH } from '@purser/contract/values/budgets';
import { describe, expect, test } from 'vitest';
import { budgetChain, budgetsOf, type SharedBudget } from './shared-budgets.ts';

const budget = (slug: string, parent: string | null): SharedBudget => ({
  budget_id: `bud_${slug}`,
  slug,
  name: slug,
  currency: 'EUR',
  period: 'MONTH',
  time_zone: 'UTC',
  limit_minor: 100,
  parent_id: parent === null ? null : `bud_${parent}`,
  status: 'active',
  alert_percents: null,
  told_period: null,
  told_percent: null,
  created_at: '2026-11-22T00:00:00.000Z',
  updated_at: '2026-11-22T00:00:00.000Z',
});
const ALL = [
  budget('company', null),
  budget('marketing', 'company'),
  budget('ads', 'marketing'),
  budget('events', 'company'),
];
const slugs = (budgets: readonly SharedBudget[]) => budgets.map(({ slug }) => slug);

describe('the budgets that a spend counts in', () => {
  test('are those that are named and all above them, each once', () => {
    expect(slugs(budgetsOf(['ads', 'events', 'marketing'], ALL))).toEqual([
      'ads',
      'marketing',
      'company',
      'events',
    ]);
    expect(budgetsOf([], ALL)).toEqual([]);
  });

  test('are never fewer because one is not there, or because they lie in a circle', () => {
    const without = (slug: string) => ALL.filter((each) => each.slug !== slug);
    expect(() => budgetChain('nobody', ALL)).toThrow('"nobody"');
    expect(() => budgetsOf(['company', 'ads'], without('ads'))).toThrow('"ads"');
    expect(() => budgetsOf(['ads'], without('company'))).toThrow('"ads"');
    expect(() => budgetChain('ads', [...without('company'), budget('company', 'ads')])).toThrow('"ads"');
  });

  test('are at most as many above each other as may be', () => {
    const deep = Array.from({ length: MAX_BUDGET_DEPTH }, (_, i) =>
      budget(`d${i}`, i === 0 ? null : `d${i - 1}`),
    );
    const last = deep.at(-1)?.slug as string;
    expect(budgetChain(last, deep)).toHaveLength(MAX_BUDGET_DEPTH);
    expect(() => budgetChain('more', [...deep, budget('more', last)])).toThrow('"more"');
  });
});
