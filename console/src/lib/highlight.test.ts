import { expect, test } from 'vitest';
import { highlight } from './highlight.ts';

const marked = (text: string, quotes: Parameters<typeof highlight>[1]) =>
  highlight(text, quotes)
    .filter(({ effect }) => effect !== null)
    .map(({ text, effect }) => `${effect}: ${text}`);

test('a quotation is marked at any position, ignoring case and white space', () => {
  expect(marked('Gift cards and\n gift  CARDS', [{ text: 'gift cards', effect: 'conflicts' }])).toEqual([
    'conflicts: Gift cards',
    'conflicts: gift  CARDS',
  ]);
});

test('overlapping quotations get the most severe effect', () => {
  expect(
    marked('staging servers', [
      { text: 'staging servers', effect: 'supports' },
      { text: 'servers', effect: 'suspicious' },
    ]),
  ).toEqual(['supports: staging ', 'suspicious: servers']);
});

test('nothing is lost or added, and signs of patterns are only signs', () => {
  const text = 'A (very) odd [text] $5.00 a+b? 👍';
  const segments = highlight(text, [
    { text: '(very)', effect: 'supports' },
    { text: '$5.00 a+b?', effect: 'conflicts' },
    { text: '', effect: 'conflicts' },
    { text: 'not there', effect: 'conflicts' },
  ]);
  expect(segments.map((each) => each.text).join('')).toBe(text);
  expect(segments.filter(({ effect }) => effect !== null)).toHaveLength(2);
});
