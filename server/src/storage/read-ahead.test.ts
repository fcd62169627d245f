import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { readAhead } from './read-ahead.ts';

/** What was rejected without anybody to handle it, while the test runs. */
function unhandledRejections(): unknown[] {
  const found: unknown[] = [];
  const note = (reason: unknown) => void found.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  return found;
}

test('pages come in their order, each asked for with the one before it, and one is read ahead', async () => {
  const asked: (number | undefined)[] = [];
  const pages = readAhead(async (before?: number) => {
    asked.push(before);
    return before === 3 ? undefined : (before ?? 0) + 1;
  });
  expect((await pages.next()).value).toBe(1);
  expect(asked).toEqual([undefined, 1]);
  const rest: number[] = [];
  for await (const page of pages) rest.push(page);
  expect(rest).toEqual([2, 3]);
  expect(asked).toEqual([undefined, 1, 2, 3]);
});

test('a page that fails while the one before it is worked on is told of in its turn, and never goes unhandled', async () => {
  const unhandled = unhandledRejections();
  const pages = readAhead((before?: number) =>
    before === undefined ? Promise.resolve(1) : Promise.reject(new Error('the database is gone')),
  );
  expect((await pages.next()).value).toBe(1);
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  await expect(pages.next()).rejects.toThrow('the database is gone');
  expect(unhandled).toEqual([]);
});

test('whoever stops early waits until nothing is being read any more, and hears nothing of its failure', async () => {
  const unhandled = unhandledRejections();
  let fail = (_error: Error) => {};
  const pages = readAhead((before?: number) =>
    before === undefined
      ? Promise.resolve(1)
      : new Promise<number>((_, reject) => {
          fail = reject;
        }),
  );
  await pages.next();
  let ended = false;
  const ending = pages.return().then(() => {
    ended = true;
  });
  await nextTurn();
  expect(ended).toBe(false);
  fail(new Error('too late to matter'));
  await ending;
  await nextTurn();
  expect(unhandled).toEqual([]);
});
