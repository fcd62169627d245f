import { expect, test } from 'vitest';
import { nameKey, nameProblem } from './people.ts';

test.each([
  ['ADA LOVELACE', 'case'],
  ['Ada  Lovelace', 'blanks'],
  ['Ada-Lovelace.', 'punctuation'],
  ['Adá Lövelace', 'accents'],
  ['A\u200dda Lovelace', 'a joiner'],
  ['Аdа Lоvelасe', 'Cyrillic letters'],
  ['Ａｄａ Ｌｏｖｅｌａｃｅ', 'wide letters'],
  ['Ada Love1ace', 'a digit'],
  ['Ada Iovelace', 'a capital I'],
])('%s is Ada Lovelace by name: %s', (name) => {
  expect(nameKey(name)).toBe(nameKey('Ada Lovelace'));
});
test.each(['Ada Byron', 'Grace Lovelace', '🙂', 'Ада'])('%s is not', (name) => {
  expect(nameKey(name)).not.toBe(nameKey('Ada Lovelace'));
});
test('names that consist of symbols only are different', () => {
  expect(nameKey('🙂')).not.toBe(nameKey('🙃'));
});
test.each(['\u202eecalevoL adA', 'Ada\u200b', 'Ada\u2066', '\u200d', 'Ada\u{e0041}'])(
  '%j is no name',
  (name) => {
    expect(nameProblem(name)).toMatch(/characters/);
  },
);
test.each(['Ada Lovelace', '👩‍🔬', 'می‌خواهم', 'Ω'])('%s is a name', (name) => {
  expect(nameProblem(name)).toBeNull();
});
