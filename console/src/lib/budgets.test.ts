import type { Budget } from '@purser/sdk';
import { expect, test } from 'vitest';
import { budgetsBelow, nestedBudgets } from './budgets.ts';

const budget = (slug: string, parent: string | null = null) => ({ slug, parent }) as Budget;
const ALL = [
  budget('marketing', 'company'),
  budget('travel', 'company'),
  budget('ads', 'marketing'),
  budget('company'),
  budget('aside'),
];

test('each budget stands right below the one that it counts in', () => {
  expect(nestedBudgets(ALL).map(({ budget, depth }) => `${depth} ${budget.slug}`)).toEqual([
    '0 aside',
    '0 company',
    '1 marketing',
    '2 ads',
    '1 travel',
  ]);
});

test('one whose parent is not among them is still there', () => {
  expect(nestedBudgets([budget('ads', 'marketing')])).toHaveLength(1);
});

test('below a budget is what counts in it, however deep', () => {
  expect(budgetsBelow(ALL, 'company').map(({ slug }) => slug)).toEqual(['marketing', 'ads', 'travel']);
  expect(budgetsBelow(ALL, 'aside')).toEqual([]);
});
