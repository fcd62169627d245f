import { REASON_CODES as OF_SERVICE, STAGES } from '@purser/rules/domain/decisions';
import { expect, test } from 'vitest';
import { REASON_CODES, stageWords } from './words.ts';

test('every reason of the service has words, and can be filtered by', () => {
  expect([...REASON_CODES].sort()).toEqual([...OF_SERVICE].sort());
});

test('every stage of the service has a heading of its own', () => {
  const headings = STAGES.map(stageWords);
  expect(headings.filter((each) => !each)).toEqual([]);
  expect(new Set(headings).size).toBe(STAGES.length);
});
