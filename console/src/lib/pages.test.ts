import { describe, expect, test } from 'vitest';
import { type PlainPage, withEach, withFirstPage, withRows } from './pages.ts';

const page = (ids: string, next_cursor: string | null = null): PlainPage<string> => ({
  data: ids === '' ? [] : ids.split(''),
  next_cursor,
});
const rowsOf = (pages: PlainPage<string>[]) => pages.flatMap(({ data }) => data).join('');
const idOf = (row: string) => row;
const isBefore = (a: string, b: string) => a < b;

describe('a first page that was fetched again', () => {
  const pages = [page('abc', 'c'), page('def', 'f')];
  test('takes out what stood in its range and is gone, and keeps what stands further down', () => {
    const now = withFirstPage(pages, page('acd', 'd'), idOf);
    expect(rowsOf(now)).toBe('acdef');
    expect(now.at(-1)?.next_cursor).toBe('f');
  });
  test('brings what came on top', () => {
    expect(rowsOf(withFirstPage(pages, page('Xab', 'b'), idOf))).toBe('Xabcdef');
  });
  test('that is the last one is the whole list', () => {
    expect(rowsOf(withFirstPage(pages, page('ad'), idOf))).toBe('ad');
  });
  test('leaves no gap where it shares no row with what was loaded', () => {
    expect(withFirstPage(pages, page('XYZ', 'Z'), idOf)).toEqual([page('XYZ', 'Z')]);
  });
  test('that reaches over all that was loaded has its own next page', () => {
    expect(withFirstPage(pages, page('cdef', 'f2'), idOf)).toEqual([page('cdef', 'f2')]);
  });
});

describe('new rows', () => {
  test('stand where they belong, once', () => {
    expect(rowsOf(withRows([page('ac', 'c'), page('eg')], ['d', 'a', 'b'], idOf, isBefore))).toBe('abcdeg');
  });
  test('come with the next page where they belong after all that was loaded, and at the end where there is none', () => {
    expect(rowsOf(withRows([page('ac', 'c')], ['x'], idOf, isBefore))).toBe('ac');
    expect(rowsOf(withRows([page('ac')], ['x'], idOf, isBefore))).toBe('acx');
  });
});

test('rows are changed in their place, or taken out', () => {
  const pages = [page('ab', 'b'), page('cd')];
  expect(rowsOf(withEach(pages, (row) => (row === 'b' ? null : row === 'c' ? 'C' : row)))).toBe('aCd');
});
