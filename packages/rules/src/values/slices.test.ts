import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonInSlices, mapInSlices } from './slices.ts';

/** Counts how often others get a turn of the event loop while `work` is under way. */
async function turnsDuring<T>(work: () => Promise<T>): Promise<{ result: T; turns: number }> {
  let turns = 0;
  let is_over = false;
  const count = () => {
    if (is_over) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  try {
    return { result: await work(), turns };
  } finally {
    is_over = true;
  }
}

const textOf = (written: string | Buffer[]) =>
  typeof written === 'string' ? written : Buffer.concat(written).toString();

test('writes the JSON that JSON.stringify writes, whatever the values and however long the lists', async () => {
  const value = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.string({ unit: 'binary' }));
  const body = fc.dictionary(fc.string(), fc.oneof(value, fc.array(value)));
  await fc.assert(
    fc.asyncProperty(body, async (each) => {
      expect(textOf(await jsonInSlices(each))).toBe(JSON.stringify(each));
    }),
  );
});

test('a long list is written in slices, between which others have their turns', async () => {
  const data = Array.from({ length: 200 }, (_, n) => ({ n, words: 'né "quoted" '.repeat(400) }));
  const body = { data, next_cursor: null };
  const { result, turns } = await turnsDuring(() => jsonInSlices(body));
  expect(textOf(result)).toBe(JSON.stringify(body));
  expect(result.length).toBeGreaterThan(10);
  expect(turns).toBeGreaterThan(10);
  const short = await turnsDuring(() => jsonInSlices({ data: data.slice(0, 2) }));
  expect(short).toEqual({ result: JSON.stringify({ data: data.slice(0, 2) }), turns: 0 });
});

test('a long piece of work on a list lets others have their turns, and keeps the order', async () => {
  const sizeOf = () => 40_000;
  const { result, turns } = await turnsDuring(() => mapInSlices([1, 2, 3, 4, 5], (n) => n * 2, sizeOf));
  expect(result).toEqual([2, 4, 6, 8, 10]);
  expect(turns).toBeGreaterThanOrEqual(2);
});

test('an error of the work is that of the whole', async () => {
  const half = (n: number) => {
    if (n % 2 === 1) throw new RangeError('odd');
    return n / 2;
  };
  const work = mapInSlices([2, 3], half, () => 1);
  await expect(work).rejects.toThrow('odd');
});
