import type { Authority } from '@purser/sdk';
import { describe, expect, test } from 'vitest';
import { authorityOf, type Draft, draftOf, EMPTY_DRAFT, fieldOf } from './authority-draft.ts';
import { diffOf } from './diff.ts';

const AUTHORITY: Authority = {
  purpose: {
    objective: 'Keep the staging servers running',
    success_criteria: ['No outage'],
    constraints: ['No gift cards', 'No travel'],
  },
  currency: 'EUR',
  per_transaction_limit_minor: 20_000,
  monthly_budget_minor: 150_050,
  blocked_merchants: [],
  allowed_merchants: ['Hetzner Online'],
};

describe('the form of an authority', () => {
  test.each<[string, Authority]>([
    ['with most fields', AUTHORITY],
    ['with the least', { purpose: { objective: 'Anything' }, currency: 'JPY' }],
    [
      'in a currency of three digits, that says what it could leave out',
      {
        purpose: { objective: 'Anything', context: 'Kuwait' },
        currency: 'KWD',
        review_threshold_minor: 0,
        on_purpose_unclear: 'REVIEW',
      },
    ],
    [
      'with what the form does not know',
      { ...AUTHORITY, reviewer_may_list: true, purpose: { ...AUTHORITY.purpose, tone: 'x' } } as never,
    ],
  ])('gives the very same authority back: %s', (_, authority) => {
    expect(authorityOf(draftOf(authority), authority)).toEqual({ authority, problems: null });
  });

  test('an amount that was emptied limits no more, and a list that was emptied is gone', () => {
    const draft: Draft = { ...draftOf(AUTHORITY), monthly_budget: ' ', constraints: '\n' };
    const { authority } = authorityOf(draft, AUTHORITY);
    expect(authority).not.toHaveProperty('monthly_budget_minor');
    expect(authority?.purpose).not.toHaveProperty('constraints');
  });

  test('each wrong field is named', () => {
    const draft = { ...EMPTY_DRAFT, currency: 'E', monthly_budget: '1.234', review_threshold: 'much' };
    const { problems } = authorityOf(draft, null);
    expect(Object.keys(problems ?? {}).sort()).toEqual([
      'currency',
      'monthly_budget',
      'objective',
      'review_threshold',
    ]);
  });

  test('a refusal of one entry belongs to its list', () => {
    expect(fieldOf('purpose.constraints[2]')).toBe('constraints');
    expect(fieldOf('per_transaction_limit_minor')).toBe('per_transaction_limit');
    expect(fieldOf('nonsense')).toBeUndefined();
  });
});

describe('the difference of two authorities', () => {
  test('is nothing between an authority and itself, and an empty list is no list', () => {
    const { blocked_merchants: _, ...without } = AUTHORITY;
    expect(diffOf(AUTHORITY, structuredClone(AUTHORITY))).toEqual([]);
    expect(diffOf(AUTHORITY, without)).toEqual([]);
  });

  test('names what changed, with amounts in their currency and entries of lists', () => {
    const after: Authority = {
      ...AUTHORITY,
      purpose: { ...AUTHORITY.purpose, constraints: ['No travel', 'No software'] },
      per_transaction_limit_minor: 10_000,
      review_threshold_minor: 5_000,
    };
    expect(diffOf(AUTHORITY, after)).toEqual([
      { name: 'Constraints', before: null, after: null, removed: ['No gift cards'], added: ['No software'] },
      { name: 'Per-transaction limit', before: 'EUR 200.00', after: 'EUR 100.00', removed: [], added: [] },
      { name: 'Review threshold', before: null, after: 'EUR 50.00', removed: [], added: [] },
    ]);
  });

  test('of none and one is all of it', () => {
    expect(diffOf(null, AUTHORITY).map((each) => each.name)).toContain('Objective');
  });
});
