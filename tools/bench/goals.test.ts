import { expect, test } from 'vitest';
import { type Goal, isReached, shownAim, shownValue, shownVerdict } from './goals.ts';

const rate: Goal = { name: 'rate', unit: '', is_least: true, goal: 1.6, measured: 1.6 };
const time: Goal = { name: 'time', unit: 'ms', is_least: false, goal: 150, measured: 150 };

test('the goal itself is enough, in both directions', () => {
  expect(isReached(rate)).toBe(true);
  expect(isReached(time)).toBe(true);
  expect(isReached({ ...rate, measured: 1.59 })).toBe(false);
  expect(isReached({ ...time, measured: 150.1 })).toBe(false);
});

test('what was not measured is neither reached nor missed, and what is no number is missed', () => {
  expect(isReached({ ...rate, measured: null })).toBeNull();
  expect(shownVerdict({ ...rate, measured: null })).toBe('not measured');
  expect(isReached({ ...rate, measured: Number.NaN })).toBe(false);
  expect(shownVerdict({ ...time, measured: Number.NaN })).toBe('missed');
});

test('a miss says by how much of the goal', () => {
  expect(shownVerdict({ ...rate, measured: 1.2 })).toBe('missed by 25 %');
  expect(shownVerdict({ ...time, measured: 153 })).toBe('missed by 2.0 %');
  expect(shownVerdict(rate)).toBe('reached');
});

test('aims and values carry their unit', () => {
  expect(shownAim(rate)).toBe('at least 1.60 x');
  expect(shownAim(time)).toBe('at most 150 ms');
  expect(shownValue(52_345.6, '/s')).toBe('52346/s');
  expect(shownValue(1.234, 'ms')).toBe('1.23 ms');
});
