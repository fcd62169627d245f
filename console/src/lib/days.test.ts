import { expect, test } from 'vitest';
import { bucketsOf, daysBetween } from './days.ts';

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
test('buckets have every decision once, and are no more than there is room for', () => {
  const days = daysBetween('2026-11-01', '2026-11-30').map((day, i) => ({
    day,
    allow: i,
    review: 1,
    deny: 0,
  }));
  for (const max of [1, 7, 12, 29, 30, 31]) {
    const buckets = bucketsOf(days, '2026-11-01', '2026-11-30', max);
    expect(buckets.length).toBeLessThanOrEqual(max);
    expect(buckets.reduce((sum, each) => sum + each.allow, 0)).toBe(435);
    expect(buckets.reduce((sum, each) => sum + each.review, 0)).toBe(30);
    expect([buckets[0]?.from, buckets.at(-1)?.to]).toEqual(['2026-11-01', '2026-11-30']);
  }
});
