import { readTerms } from '@purser/purpose-data';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ATTACK_PATTERNS } from '../data/attack-patterns.ts';
import { FieldText } from '../reading/spend-reading.ts';
import { makeScreen } from './screen.ts';
import { bitOf, OUTRIGHT, screened } from './screened.ts';
import { foldText } from './text.ts';

const SECTIONS = ['denied', 'for_oneself', 'says_paid', 'says_split', 'says_pending', 'own_affair'];
/** Every alternative of the patterns, by their sections, as what somebody may write who means it. */
const PHRASES = [...readTerms('spend-patterns')]
  .filter(([heading]) => SECTIONS.includes(heading.split('; ')[0] ?? ''))
  .map(([, lines]) =>
    lines
      .filter((line) => !line.startsWith('around '))
      .map((line) => fc.stringMatching(new RegExp(`^(?:${line.replaceAll('\\b', '')})$`, 'u'))),
  );
const BELONGING = fc
  .tuple(
    fc.constantFrom('my', 'her', "Bob's", 'Tom’s', 'meiner', 'su'),
    fc.constantFrom('', 'old '),
    fc.constantFrom(...(readTerms('private-life').get('own') ?? [])),
  )
  .map(([whose, which, what]) => `${whose} ${which}${what}`);
const WORDS = fc.constantFrom(
  'for',
  'to',
  'the',
  'paid',
  'limit',
  'not',
  'é',
  'ß',
  '№',
  'ﬁ',
  '酒',
  '\u{1d42c}',
  '7',
);
const GAP = fc.constantFrom(' ', ' ', ' ', ', ', '\n', '-', '', '_', "'s ", '’', '7');
/** Texts of agents with phrases of the patterns, whole, cut, spliced and in other spellings. */
const TEXT = fc
  .array(
    fc.tuple(
      fc.oneof(
        ...PHRASES.map((of) => fc.oneof(...of)),
        BELONGING,
        WORDS,
        fc.string({ unit: 'grapheme', maxLength: 8 }),
      ),
      GAP,
    ),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((parts) => parts.flat().join(''));
const SPELT = fc.oneof(
  TEXT,
  TEXT.map((text) => text.toUpperCase()),
  TEXT.map((text) => text.normalize('NFD')),
  fc.tuple(TEXT, fc.nat({ max: 40 })).map(([text, from]) => text.slice(from)),
);

describe('the patterns of what a request says outright', () => {
  test('find in any text what they find without the screen', () => {
    const found = new Map<RegExp, number>();
    fc.assert(
      fc.property(SPELT, (text) => {
        const read = new FieldText('task', text);
        for (const pattern of OUTRIGHT) {
          const all = [...read.folded.matchAll(pattern)];
          expect(read.matches(pattern)).toEqual(all);
          found.set(pattern, (found.get(pattern) ?? 0) + all.length);
        }
      }),
      { numRuns: Number(process.env.PURPOSE_RUNS) },
    );
    for (const pattern of OUTRIGHT) expect(found.get(pattern)).toBeGreaterThan(0);
  });

  test('find a phrase of each of their alternatives', () => {
    const missed = PHRASES.flat().flatMap((phrase) =>
      fc.sample(phrase, { numRuns: 5, seed: 7 }).filter((text) => {
        const folded = foldText(`paper ${text} 7`);
        return OUTRIGHT.some(
          (pattern) => folded.search(pattern) >= 0 && (screened(folded) & bitOf(pattern)) === 0,
        );
      }),
    );
    expect(missed).toEqual([]);
  });

  test('find a phrase of each alternative of an attack', () => {
    const missed = [...readTerms('attack-patterns')].flatMap(([, lines], i) => {
      const { pattern } = ATTACK_PATTERNS[i] as (typeof ATTACK_PATTERNS)[number];
      const phrases = lines.map((line) =>
        fc.stringMatching(new RegExp(`^(?:${line.replaceAll('\\b', '')})$`, 'u')),
      );
      return phrases
        .flatMap((phrase) =>
          fc.sample(phrase, { numRuns: 5, seed: 7 }).map((text) => foldText(`paper ${text} 7`)),
        )
        .filter((folded) => folded.search(pattern) >= 0 && (screened(folded) & bitOf(pattern)) === 0);
    });
    expect(missed).toEqual([]);
  });

  it.each([
    'tyres 28 x 1.75 with reflective side walls, order W-100017, delivery to Mill Lane',
    'Restock the workshop for the spring overhaul; station 12 waits for 9 bicycles.',
    'Two CX22 servers for the staging environment of the web shop, billed monthly',
    '',
  ])('do not run on ordinary words: %s', (text) => {
    expect(OUTRIGHT.filter((pattern) => (screened(foldText(text)) & bitOf(pattern)) !== 0)).toEqual([]);
  });

  it('and a pattern that is not screened runs on every text', () => {
    expect(new FieldText('task', 'seven zirqons').matches(/zir/g)).toHaveLength(1);
  });
});

describe('a screen', () => {
  const word = (text: string) => ({ text, starts_word: true, ends_word: true });
  const part = (text: string) => ({ text, starts_word: false, ends_word: false });

  it('tells apart the beginning, the end and the middle of words', () => {
    const screen = makeScreen([[word('son')], [part('son')], [{ ...part('son'), starts_word: true }], null]);
    const bitsOf = (text: string) => screen(text).toString(2);
    expect(bitsOf('her son')).toBe('1111');
    expect(bitsOf('person')).toBe('1010');
    expect(bitsOf('sons')).toBe('1110');
    expect(bitsOf('7son7')).toBe('1111');
    expect(bitsOf('daughter')).toBe('1000');
  });

  test('finds what the text contains, however the strings overlap', () => {
    const short = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '酒'), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.array(fc.array(short, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 }),
        fc.string({ unit: fc.constantFrom('a', 'b', ' ', '酒', 'z'), maxLength: 30 }),
        (needed, text) => {
          const bits = makeScreen(needed.map((strings) => strings.map(part)))(text);
          for (const [i, strings] of needed.entries())
            expect((bits & (1 << i)) !== 0).toBe(strings.some((each) => text.includes(each)));
        },
      ),
    );
  });

  it('has at most 31 patterns', () => {
    const many = Array.from({ length: 32 }, () => [part('paid')]);
    expect(() => makeScreen(many)).toThrow('A screen has at most 31 patterns.');
    expect(makeScreen(many.slice(1))('paid')).toBe(2 ** 31 - 1);
  });
});
