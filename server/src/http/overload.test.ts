import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test, vi } from 'vitest';
import { makeOverload } from './overload.ts';

const answer = () => new EventEmitter() as unknown as ServerResponse;

test('so many writes are taken on, and another one as soon as one has ended, however it ended', () => {
  const overload = makeOverload({
    most_writes: 2,
    isFull: () => false,
    onRefused: () => {},
  });
  const [first, second] = [answer(), answer()];
  expect([first, second, answer()].map((each) => overload.takeWrite(each))).toEqual([true, true, false]);
  first.emit('close');
  expect([answer(), answer()].map((each) => overload.takeWrite(each))).toEqual([true, false]);
});

test('none is taken on while the lane is full', () => {
  let is_full = true;
  const overload = makeOverload({
    most_writes: 9,
    isFull: () => is_full,
    onRefused: () => {},
  });
  expect(overload.takeWrite(answer())).toBe(false);
  is_full = false;
  expect(overload.takeWrite(answer())).toBe(true);
});

test('refusals are told of at once, then by the second, to the last one', () => {
  vi.useFakeTimers();
  try {
    const told: number[] = [];
    const overload = makeOverload({
      most_writes: 0,
      isFull: () => false,
      onRefused: (count) => told.push(count),
    });
    for (let i = 0; i < 25; i++) {
      overload.takeWrite(answer());
      vi.advanceTimersByTime(100);
    }
    expect(told).toEqual([1, 9, 10]);
    vi.advanceTimersByTime(10_000);
    expect(told).toEqual([1, 9, 10, 5]);
    overload.takeWrite(answer());
    expect(told).toEqual([1, 9, 10, 5, 1]);
  } finally {
    vi.useRealTimers();
  }
});
