import { expect, test, vi } from 'vitest';
import { LIMITS, makeAdmission } from './admission.ts';

test('refusals are told of at once, then by the second, to the last one', () => {
  vi.useFakeTimers();
  try {
    const told: number[] = [];
    const admission = makeAdmission(LIMITS, (count) => told.push(count));
    for (let i = 0; i < 25; i++) {
      admission.countRefusal();
      vi.advanceTimersByTime(100);
    }
    expect(told).toEqual([1, 9, 10]);
    vi.advanceTimersByTime(10_000);
    expect(told).toEqual([1, 9, 10, 5]);
    admission.countRefusal();
    expect(told).toEqual([1, 9, 10, 5, 1]);
  } finally {
    vi.useRealTimers();
  }
});

test('one workspace never has all there is, and of streams a quarter', () => {
  const admission = makeAdmission(LIMITS, () => {});
  const greedy = { workspace_id: 'ws_greedy', key_id: 'key_greedy' };
  const honest = { workspace_id: 'ws_honest', key_id: 'key_honest' };
  for (const shares of [admission.writes, admission.bodies, admission.streams, admission.connections]) {
    while (shares.tryTake(greedy) !== null);
    expect(shares.tryTake(honest)).not.toBeNull();
  }
  expect(admission.streams.inUse()).toBe(5);
});
