import { expect, test } from 'vitest';
import { healthBody } from './channels.ts';

test('a channel is healthy only once it delivered something, and failing after three failures', () => {
  const failed = { last_success_at: null, failing_since: '2026-11-28T16:00:00.000Z', last_error: 'timeout' };
  const worked = { ...failed, last_success_at: '2026-11-28T15:00:00.000Z' };
  const state = (health: Parameters<typeof healthBody>[1]) => healthBody({ status: 'active' }, health).state;
  expect(state(null)).toBe('UNUSED');
  expect([1, 2, 3].map((failures) => state({ ...failed, failures }))).toEqual([
    'UNUSED',
    'UNUSED',
    'FAILING',
  ]);
  expect([0, 2, 3].map((failures) => state({ ...worked, failures }))).toEqual([
    'HEALTHY',
    'HEALTHY',
    'FAILING',
  ]);
  expect(healthBody({ status: 'active' }, { ...failed, failures: 1 })).toEqual({
    state: 'UNUSED',
    ...failed,
  });
});
