import { expect, test } from 'vitest';
import { remembered } from './remembered.ts';

test('a text is read once while it is among the last 500', () => {
  const read: string[] = [];
  const lengthOf = remembered((text) => {
    read.push(text);
    return text.length;
  });
  const texts = Array.from({ length: 500 }, (_, i) => `text ${i}`);
  for (const text of [...texts, ...texts]) expect(lengthOf(text)).toBe(text.length);
  expect(read).toEqual(texts);
  lengthOf('one more');
  expect(lengthOf('text 0')).toBe(6);
  expect(lengthOf('text 499')).toBe(8);
  expect(read).toEqual([...texts, 'one more', 'text 0']);
});

test('an empty result is kept, too', () => {
  let count = 0;
  const read = remembered(() => {
    count += 1;
    return '';
  });
  expect([read('a'), read('a'), count]).toEqual(['', '', 1]);
});
