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

test('each budget follows its parent', () => {
  expect(nestedBudgets(ALL).map(({ budget, depth }) => `${depth} ${budget.slug}`)).toEqual([
    '0 aside',
    '0 company',
    '1 marketing',
    '2 ads',
    '1 travel',
  ]);
});

test('a budget without its parent in the list is kept', () => {
  expect(nestedBudgets([budget('ads', 'marketing')])).toHaveLength(1);
});

test('all descendants of a budget are found', () => {
  expect(budgetsBelow(ALL, 'company').map(({ slug }) => slug)).toEqual(['marketing', 'ads', 'travel']);
  expect(budgetsBelow(ALL, 'aside')).toEqual([]);
});
