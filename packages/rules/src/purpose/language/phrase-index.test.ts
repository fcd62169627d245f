import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findPhrases, indexPhrases, phrasesOf } from './phrase-index.ts';
import { tokenize } from './text.ts';

/** Few words, so that phrases begin alike, hold each other and stop short of each other. */
const WORDS = fc.array(fc.constantFrom('red', 'wine', 'glass', 'boxes', 'tea'), {
  minLength: 1,
  maxLength: 4,
});
const PHRASES = fc.array(WORDS, { maxLength: 12 });
const TEXT = fc.array(fc.constantFrom('red', 'wine', 'glass', 'box', 'boxes', 'tea', 'cup'), {
  maxLength: 20,
});

test('at each place the longest phrase that is accepted is found, and its words are not read again', () => {
  fc.assert(
    fc.property(PHRASES, TEXT, fc.integer({ min: 1, max: 4 }), (phrases, text, max_accepted) => {
      const list = phrases.map((words) => words.join(' '));
      const index = indexPhrases(phrasesOf(list, null));
      const tokens = tokenize(text.join(' '));
      const accept = (_: unknown, at: number, length: number) => at !== 3 && length <= max_accepted;

      const known = phrases.map((words) =>
        tokenize(words.join(' '))
          .map((token) => token.stem)
          .join(' '),
      );
      const expected: { at: number; length: number }[] = [];
      for (let at = 0; at < tokens.length; ) {
        let length = Math.min(4, tokens.length - at);
        const isFound = () => {
          const said = tokens
            .slice(at, at + length)
            .map((token) => token.stem)
            .join(' ');
          return accept(null, at, length) && known.includes(said);
        };
        while (length > 0 && !isFound()) length -= 1;
        // A phrase that is listed twice is found twice.
        const times = known.filter(
          (phrase) =>
            phrase ===
            tokens
              .slice(at, at + length)
              .map((token) => token.stem)
              .join(' '),
        ).length;
        for (let i = 0; length > 0 && i < times; i += 1) expected.push({ at, length });
        at += Math.max(1, length);
      }
      const found = findPhrases(tokens, index, accept).map(({ at, length }) => ({ at, length }));
      expect(found).toEqual(expected);
    }),
    { numRuns: 2_000 },
  );
});

test('entries that words cache for one index never answer for another index', () => {
  const first = indexPhrases(phrasesOf(['green tea'], null));
  const second = indexPhrases(phrasesOf(['green paint', 'tea'], null));
  const tokens = tokenize('green tea');
  const found = (index: typeof first) =>
    findPhrases(tokens, index, () => true).map(({ at, length }) => [at, length]);
  expect(found(first)).toEqual([[0, 2]]);
  expect(found(second)).toEqual([[1, 1]]);
  expect(found(first)).toEqual([[0, 2]]);
});

test('the followers of a word are stored once, however it is spelt', () => {
  const names = Array.from({ length: 2_000 }, (_, n) => `hotel place${n}`);
  const index = indexPhrases(phrasesOf(names, null));
  const spellings = ['Hotel place8', 'Hôtel place9', 'HOTEL place'].map(tokenize);
  expect(spellings.map((tokens) => findPhrases(tokens, index, () => true).length)).toEqual([1, 1, 0]);
  for (const [first] of spellings)
    expect(first?.entries?.[index.place]?.followers).toBe(index.openings.get('hotel'));
});
