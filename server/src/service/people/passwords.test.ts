import { expect, test } from 'vitest';
import { passwordProblem } from './passwords.ts';

const ADA = { email: 'ada.lovelace@example.com', name: 'Augusta Ada King' };
const problem = (password: string) => passwordProblem(password, ADA);

test.each([
  [12, 'ő-quite-safe'],
  [256, 'é'.repeat(256)],
  // Typed as two characters each, which are one after NFKC; and outside of the first plane of Unicode.
  [12, 'e\u0301'.repeat(12)],
  [12, '🦉'.repeat(12)],
])('one of %i characters may be chosen: %j', (_length, password) => {
  expect(problem(password)).toBe(null);
});
test.each([
  [11, 'eleven char'],
  [257, 'é'.repeat(257)],
  [11, 'e\u0301'.repeat(11)],
  [360, '\ufdfa'.repeat(20)],
])('one of %i characters after NFKC is too short or too long', (length, password) => {
  expect(problem(password)).toBe(`must be 12 to 256 characters, got ${length}`);
});
test.each([
  'unbelievable',
  'UnBelievable',
  'passwordpassword',
  'PassWordpassworD',
  'ｐａｓｓｗｏｒｄｐａｓｓｗｏｒｄ',
])('the commonest and their doubles are refused, however they are written: %s', (password) => {
  expect(problem(password)).toBe('is a common password; choose another one');
});
test.each(['ada.lovelace@example.com', 'ADA.Lovelace@Example.com', 'ada.lovelace', 'augusta ada king'])(
  'the e-mail, what stands before its @, and the name are refused: %s',
  (password) => {
    expect(problem(password)).toBe('must not be the e-mail or the name');
  },
);
test('nothing else is asked of it: words alone, digits alone, three times the same', () => {
  for (const password of ['correct horse battery', '904172659031', 'passwordpasswordpassword']) {
    expect(problem(password)).toBe(null);
  }
});
