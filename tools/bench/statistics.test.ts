import { expect, test } from 'vitest';
import { betweenOf, growthOf, medianOf, ratiosOf, spreadOf } from './statistics.ts';

test('the median is the middle value, whatever the order, and the mean of the middle two', () => {
  expect(medianOf([9, 1, 5])).toBe(5);
  expect(medianOf([4, 1, 10, 2])).toBe(3);
  expect(medianOf([7])).toBe(7);
});

test('nothing measured gives no number, not 0', () => {
  expect(medianOf([])).toBeNaN();
  expect(spreadOf([])).toEqual({ median: Number.NaN, min: Number.NaN, max: Number.NaN });
  expect(growthOf([1, 2, 3, 4])).toBeNaN();
});

test('the spread names the least and the greatest', () => {
  expect(spreadOf([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
});

test('ratios pair values of the same round', () => {
  expect(ratiosOf([10, 20, 30], [5, 10, 10])).toEqual([2, 2, 3]);
});

test('a baseline measured before, between and after gives one value a round', () => {
  expect(betweenOf([100, 200, 400])).toEqual([150, 300]);
});

test('growth leaves out the first fifth, and a series that stays is 1', () => {
  expect(growthOf([1, 100, 100, 100, 100])).toBe(1);
  expect(growthOf([1, 1, 10, 10, 50, 50, 60, 60, 15, 15])).toBe(1.5);
});
