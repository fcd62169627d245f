import fc from 'fast-check';
import { expect, test } from 'vitest';
import { periodOf } from './budget.ts';

test('the period is the month of the timestamp in UTC, whatever was asked before', () => {
  const near_turns = fc
    .tuple(fc.integer({ min: 0, max: 1_200 }), fc.constantFrom(-1, 0, 1))
    .map(([month, ms]) => Date.UTC(2000, month) + ms);
  fc.assert(
    fc.property(fc.array(near_turns, { minLength: 1 }), (moments) => {
      for (const ms of moments) {
        const date = new Date(ms);
        const month = String(date.getUTCMonth() + 1).padStart(2, '0');
        expect(periodOf(ms)).toBe(`${date.getUTCFullYear()}-${month}`);
      }
    }),
  );
});
