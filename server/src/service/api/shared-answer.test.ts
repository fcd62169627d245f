import { expect, test } from 'vitest';
import { sharedAnswer } from './shared-answer.ts';

test('is made once a second, however often it is asked for', async () => {
  let at_ms = 0;
  let made = 0;
  const ask = sharedAnswer(
    async () => ++made,
    () => at_ms,
  );
  for (; at_ms < 3_000; at_ms += 10) await ask();
  expect(made).toBe(3);
});

test('while it is being made nobody begins another, however long it takes, and all get the same', async () => {
  let at_ms = 0;
  let begun = 0;
  let finish = (_text: string) => {};
  const ask = sharedAnswer(
    () =>
      new Promise<string>((resolve) => {
        begun += 1;
        finish = resolve;
      }),
    () => at_ms,
  );
  const first = ask();
  at_ms = 60_000;
  const second = ask();
  finish('done');
  expect(await Promise.all([first, second])).toEqual(['done', 'done']);
  expect(begun).toBe(1);
});

test('a failure is shared as well, and made good a second later', async () => {
  let at_ms = 0;
  let is_down = true;
  const ask = sharedAnswer(
    async () => {
      if (is_down) throw new Error('down');
      return 'up';
    },
    () => at_ms,
  );
  await expect(ask()).rejects.toThrow('down');
  is_down = false;
  await expect(ask()).rejects.toThrow('down');
  at_ms = 1_000;
  expect(await ask()).toBe('up');
});
