import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { readAhead } from './pages.ts';

/** The unhandled rejections of the process while the test runs. */
function unhandledRejections(): unknown[] {
  const found: unknown[] = [];
  const note = (reason: unknown) => void found.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  return found;
}

test('pages come in order, each is loaded with the previous one as argument, and one page is read ahead', async () => {
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

test('the error of a page that is read ahead is thrown when that page is asked for, and is never unhandled', async () => {
  const unhandled = unhandledRejections();
  const pages = readAhead((before?: number) =>
    before === undefined ? Promise.resolve(1) : Promise.reject(new Error('the database is gone')),
  );
  expect((await pages.next()).value).toBe(1);
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  await expect(pages.next()).rejects.toThrow('the database is gone');
  expect(unhandled).toEqual([]);
});

test('a caller that stops early waits until the load under way has ended, and does not see its failure', async () => {
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
