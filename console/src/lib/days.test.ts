import { expect, test } from 'vitest';
import { daysBetween } from './days.ts';

test('all days are there, over the end of a month and of February', () => {
  expect(daysBetween('2028-02-27', '2028-03-01')).toEqual([
    '2028-02-27',
    '2028-02-28',
    '2028-02-29',
    '2028-03-01',
  ]);
});
test('one day is one day, and none are none', () => {
  expect(daysBetween('2026-11-22', '2026-11-22')).toEqual(['2026-11-22']);
  expect(daysBetween('2026-11-23', '2026-11-22')).toEqual([]);
});
test('of very many the last are kept', () => {
  const days = daysBetween('2000-01-01', '2026-11-22');
  expect([days.length, days.at(-1)]).toEqual([370, '2026-11-22']);
});
