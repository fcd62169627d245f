import { expect, test } from 'vitest';
import { inChunks } from './in-chunks.ts';

test('every value is asked for once, no more than the service takes at a time, and nothing for none', async () => {
  const values = Array.from({ length: 120 }, (_, i) => `evt_${i}`);
  const parts: number[] = [];
  const found = await inChunks(values, async (some) => {
    parts.push(some.length);
    return some;
  });
  expect(found).toEqual(values);
  expect(Math.max(...parts)).toBe(50);
  expect(await inChunks([], () => Promise.reject(new Error('asked for nothing')))).toEqual([]);
});
