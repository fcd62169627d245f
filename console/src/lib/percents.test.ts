import { expect, test } from 'vitest';
import { percentsFromInput, percentsToInput } from './percents.ts';

test('percentages that are typed are read as they are shown', () => {
  expect(percentsFromInput(percentsToInput([1, 80, 100]))).toEqual({ percents: [1, 80, 100] });
  expect(percentsFromInput(' 50 %  80% ')).toEqual({ percents: [50, 80] });
  expect(percentsFromInput('  ')).toEqual({ percents: null });
});

test.each(['0', '101', '80, 80', '100, 80', '1 2 3 4 5 6', '8.5', 'many', '-1'])(
  '%s is a problem',
  (text) => {
    expect(percentsFromInput(text)).toHaveProperty('problem');
  },
);
