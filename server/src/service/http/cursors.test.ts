import { expect, test } from 'vitest';
import { deriveSecrets } from '../installation/secrets.ts';
import { makeCursors, pageOf } from './cursors.ts';

const cursors = makeCursors(deriveSecrets(Buffer.alloc(32, 7)).cursorMacs);
const LIST = ['listDecisions', 'ws_1', null, { decision: 'ALLOW' }];
const refused = (list: unknown, cursor: string) => {
  try {
    cursors.open(list, cursor);
    return 'opened';
  } catch (error) {
    return (error as Error).message.split(':')[0];
  }
};

test('a cursor names its place in its own list, and none names the beginning', () => {
  expect(cursors.open(LIST, cursors.seal(LIST, 'dec_1'))).toBe('dec_1');
  expect(cursors.open(LIST, cursors.seal(LIST, 42))).toBe(42);
  expect(cursors.open(LIST, undefined)).toBeNull();
});

test.each([
  ['another workspace', ['listDecisions', 'ws_2', null, { decision: 'ALLOW' }]],
  ['another list', ['listAgents', 'ws_1', null, { decision: 'ALLOW' }]],
  ['another agent', ['listDecisions', 'ws_1', 'agt_1', { decision: 'ALLOW' }]],
  ['other filters', ['listDecisions', 'ws_1', null, { decision: 'DENY' }]],
  ['fewer filters', ['listDecisions', 'ws_1', null, {}]],
])('a cursor is refused by %s', (_name, list) => {
  expect(refused(list, cursors.seal(LIST, 'dec_1'))).toBe('cursor');
});

test('a cursor with any one character altered, added or taken away is refused', () => {
  const cursor = cursors.seal(LIST, 'dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BD');
  for (let n = 0; n <= cursor.length; n++) {
    for (const letter of ['A', 'b', '7', '_', '-', '.', '~']) {
      expect(refused(LIST, cursor.slice(0, n) + letter + cursor.slice(n))).toBe('cursor');
      if (letter !== cursor[n]) {
        expect(refused(LIST, cursor.slice(0, n) + letter + cursor.slice(n + 1))).toBe('cursor');
      }
    }
    if (n < cursor.length) expect(refused(LIST, cursor.slice(0, n) + cursor.slice(n + 1))).toBe('cursor');
  }
});

test('a page has a next one only where there is more', () => {
  const cut = (rows: number[]) => pageOf(rows, 2, (last) => `after ${last}`);
  expect(cut([])).toEqual({ rows: [], next_cursor: null });
  expect(cut([1, 2])).toEqual({ rows: [1, 2], next_cursor: null });
  expect(cut([1, 2, 3])).toEqual({ rows: [1, 2], next_cursor: 'after 2' });
});
