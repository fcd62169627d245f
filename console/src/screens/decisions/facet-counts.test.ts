import { expect, test } from 'vitest';
import { countsOfRows } from './facet-counts.ts';

test('what was read is counted by value, the most frequent first, each reason of a decision by itself', () => {
  const row = (
    decision: 'ALLOW' | 'DENY',
    slug: string,
    ...reason_codes: 'PURPOSE_UNCLEAR'[] | 'MERCHANT_BLOCKED'[]
  ) => ({
    decision,
    mode: 'SHADOW' as const,
    reason_codes,
    agent: { id: slug, slug },
    currency: 'EUR',
  });
  const rows = [
    row('DENY', 'a', 'MERCHANT_BLOCKED'),
    row('ALLOW', 'b', 'PURPOSE_UNCLEAR'),
    { ...row('DENY', 'b'), reason_codes: ['MERCHANT_BLOCKED' as const, 'PURPOSE_UNCLEAR' as const] },
  ];
  expect(countsOfRows(rows)).toEqual({
    decision: [
      { value: 'DENY', count: 2 },
      { value: 'ALLOW', count: 1 },
    ],
    mode: [{ value: 'SHADOW', count: 3 }],
    reason: [
      { value: 'MERCHANT_BLOCKED', count: 2 },
      { value: 'PURPOSE_UNCLEAR', count: 2 },
    ],
    agent: [
      { value: 'b', count: 2 },
      { value: 'a', count: 1 },
    ],
    currency: [{ value: 'EUR', count: 3 }],
  });
});
