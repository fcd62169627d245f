import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { makeOverload } from './overload.ts';

const answer = () => new EventEmitter() as unknown as ServerResponse;

test('so many writes are taken on, and another one as soon as one has ended, however it ended', () => {
  const overload = makeOverload({
    most_writes: 2,
    isFull: () => false,
    now_ms: () => 0,
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
    now_ms: () => 0,
    onRefused: () => {},
  });
  expect(overload.takeWrite(answer())).toBe(false);
  is_full = false;
  expect(overload.takeWrite(answer())).toBe(true);
});

test('refusals are told of at once, then once a second with their number', () => {
  const told: [number, number][] = [];
  let now_ms = 5_000;
  const overload = makeOverload({
    most_writes: 0,
    isFull: () => false,
    now_ms: () => now_ms,
    onRefused: (count) => told.push([now_ms, count]),
  });
  for (; now_ms < 7_500; now_ms += 100) overload.takeWrite(answer());
  expect(told).toEqual([
    [5_000, 1],
    [6_000, 10],
    [7_000, 10],
  ]);
});
