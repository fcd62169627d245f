import { expect, test } from 'vitest';
import { cut, displayWidth, printable, renderTable } from './table.ts';

const PLAIN = { width: 80, has_colour: false };

test('a text with terminal commands or marks of direction is made harmless', () => {
  const shown = printable('a\u001b[2Jb\u202ec\r\nd\u0007');
  expect(shown).toBe('a·[2Jb·c d·');
});

test('columns line up when letters take two columns or none', () => {
  const rows = [
    [{ text: '森田畳店' }, { text: '1' }],
    [{ text: 'Cafe\u0301' }, { text: '22' }],
  ];
  const lines = renderTable([{ title: 'NAME' }, { title: 'N', align: 'right' }], rows, PLAIN);
  expect(lines).toEqual(['NAME       N', '森田畳店   1', 'Cafe\u0301      22']);
});

test('a table that is too wide gives way where it may, and nowhere else', () => {
  const rows = [
    [{ text: 'first-spend-of-all-01' }, { text: 'A merchant with a long name' }, { text: 'DENY' }],
  ];
  const lines = renderTable(
    [{ title: 'ID', min_width: 8, keeps: 'end' }, { title: 'M', min_width: 8 }, { title: 'DECISION' }],
    rows,
    { width: 30, has_colour: false },
  );
  expect(lines[1]).toBe('…f-all-01  A mercha…  DENY');
  expect(lines.every((line) => displayWidth(line) <= 30)).toBe(true);
});

test('a text is cut by the columns it takes', () => {
  expect(cut('森田畳店', 6)).toBe('森田…');
  expect(cut('exact', 5)).toBe('exact');
});

test('colours are given only where they are wanted', () => {
  const rows = [[{ text: 'DENY', style: 'red' as const }]];
  expect(renderTable([{ title: 'D' }], rows, PLAIN).join('')).not.toContain('\u001b');
  expect(renderTable([{ title: 'D' }], rows, { ...PLAIN, has_colour: true })[1]).toBe(
    '\u001b[31mDENY\u001b[0m',
  );
});
