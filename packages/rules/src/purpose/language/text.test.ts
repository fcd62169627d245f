import { expect, test } from 'vitest';
import { foldText, isTooLong, MAX_TEXT_LENGTH } from './text.ts';

test('folding makes a text at most a few times longer, whatever its letters expand to', () => {
  const ligatures = 'ﷺ'.repeat(MAX_TEXT_LENGTH);
  expect(ligatures.normalize('NFKD').length).toBe(18 * MAX_TEXT_LENGTH);
  expect(foldText(ligatures).length).toBeLessThan(4 * MAX_TEXT_LENGTH);
  expect(isTooLong(ligatures)).toBe(true);
});

test('texts of any script are read to their end', () => {
  for (const text of ['한국어 문장 각각', 'Müller & Söhne, ﬁne ﬃ', '㍿ トヨタ', 'Ἀθῆναι', '🇩🇪 café']) {
    expect(isTooLong(text)).toBe(false);
    expect(isTooLong(text.repeat(50))).toBe(false);
  }
  expect(isTooLong('قال ﷺ')).toBe(false);
  expect(isTooLong('각'.repeat(MAX_TEXT_LENGTH))).toBe(false);
  expect(isTooLong('a'.repeat(MAX_TEXT_LENGTH + 1))).toBe(true);
});
