import { expect, test } from 'vitest';
import { groupsOf, sumsOf } from './bulk.ts';

const spend = (
  slug: string,
  reason_code: 'PURPOSE_UNCLEAR' | 'NEW_MERCHANT',
  currency: string,
  minor: number,
) => ({
  decision_id: `dec_${slug}${minor}`,
  agent: { id: `agt_${slug}`, slug },
  reason_code,
  currency,
  requested_amount_minor: minor,
});

test('requests are grouped by agent and cause, and summed by currency', () => {
  const all = [
    spend('a', 'PURPOSE_UNCLEAR', 'EUR', 100),
    spend('b', 'PURPOSE_UNCLEAR', 'EUR', 200),
    spend('a', 'NEW_MERCHANT', 'USD', 300),
    spend('a', 'PURPOSE_UNCLEAR', 'USD', 400),
  ];
  const groups = groupsOf(all);
  expect(groups.map(({ agent, reason_code, decisions }) => [agent, reason_code, decisions.length])).toEqual([
    ['a', 'PURPOSE_UNCLEAR', 2],
    ['b', 'PURPOSE_UNCLEAR', 1],
    ['a', 'NEW_MERCHANT', 1],
  ]);
  expect(sumsOf(all)).toEqual([
    { currency: 'EUR', amount_minor: 300 },
    { currency: 'USD', amount_minor: 700 },
  ]);
});
