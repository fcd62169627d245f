import type { Authority } from '@purser/contract/authority';
import type { SpendRequest } from '@purser/contract/decisions';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assessBuiltIn } from './built-in-assessor.ts';
import { exampleSpends } from './example-spends.ts';
import { tokenize, withinBudget } from './language/text.ts';
import { makeReadingCache } from './reading/reading-cache.ts';
import { showReading } from './shown-reading.ts';

const HOSTING: Authority = {
  purpose: { objective: 'Keep the staging servers running: cloud servers and hosting.' },
  allowed_merchants: ['Hetzner Online'],
  currency: 'EUR',
};
const SERVER: SpendRequest = {
  action: {
    type: 'purchase',
    merchant: 'Hetzner Online',
    amount_minor: 100,
    currency: 'EUR',
    description: 'A cloud server for staging',
  },
};

/** Letters of several scripts, figures, marks and everything that parts words. */
const text = fc.oneof(
  fc.string({ maxLength: 400, unit: 'grapheme' }),
  fc
    .array(fc.constantFrom('server', 'é', '서버', 'ﷺ', "o'clock", 'a.b', '7', ' ', '\n', ','), {
      maxLength: 200,
    })
    .map((pieces) => pieces.join(' ')),
);

describe('the reading budget', () => {
  test('texts that belong together are read from their beginning, in whole words, and never beyond the budget', () => {
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 8 }),
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 3_000 }),
        (texts, max_words, max_size) => {
          const read = withinBudget(texts, { max_words, max_size });
          expect(read.texts).toHaveLength(texts.length);
          const whole = texts.join('\0');
          const cut_at = read.texts.findIndex((each, i) => each !== texts[i]);
          expect(read.cut).toBe(cut_at >= 0);
          for (const [i, each] of read.texts.entries()) {
            expect(texts[i]?.startsWith(each)).toBe(true);
            if (cut_at >= 0 && i > cut_at) expect(each).toBe('');
          }
          const words = read.texts.flatMap((each) => tokenize(each));
          expect(words.length).toBeLessThanOrEqual(max_words);
          expect(Buffer.byteLength(read.texts.join(''))).toBeLessThanOrEqual(max_size);
          const all = whole.split('\0').flatMap((each) => tokenize(each.slice(0, 4_000)));
          expect(words.map(({ word }) => word)).toEqual(all.slice(0, words.length).map(({ word }) => word));
        },
      ),
    );
  });
});

describe('a request with more words than are read', () => {
  const pad = fc
    .array(fc.constantFrom('server', 'zxq', 'gift', 'ok', 'é', '서버'), {
      minLength: 1_100,
      maxLength: 1_900,
    })
    .map((words) => words.join(' ').slice(0, 4_000));
  const plenty = fc.record({
    task: pad,
    steps: fc.array(
      pad.map((words) => words.slice(0, 2_000)),
      { minLength: 8, maxLength: 25 },
    ),
  });

  test('a request with more words than are read is never aligned, whatever it says', () => {
    expect(assessBuiltIn(HOSTING, SERVER).assessment).toBe('PURPOSE_ALIGNED');
    fc.assert(
      fc.property(plenty, ({ task, steps }) => {
        const request = { ...SERVER, task, trace: steps.map((step) => ({ step })) };
        expect(assessBuiltIn(HOSTING, request).assessment).not.toBe('PURPOSE_ALIGNED');
      }),
      { numRuns: 30 },
    );
  });

  test('a request with more words than are read is misaligned where the operator lets unclear spends pass', () => {
    const lenient: Authority = { ...HOSTING, on_purpose_unclear: 'ALLOW' };
    const trace = Array.from({ length: 25 }, () => ({ step: 'looked at servers '.repeat(100) }));
    expect(assessBuiltIn(HOSTING, { ...SERVER, trace }).assessment).toBe('PURPOSE_UNCLEAR');
    expect(assessBuiltIn(lenient, { ...SERVER, trace }).assessment).toBe('PURPOSE_MISALIGNED');
  });

  test('a request with more words than are read is still judged by all of its description', () => {
    const trace = Array.from({ length: 25 }, () => ({ step: 'looked at servers '.repeat(100) }));
    const action = { ...SERVER.action, description: 'four gift cards' };
    expect(assessBuiltIn(HOSTING, { action, trace }).assessment).toBe('PURPOSE_MISALIGNED');
  });
});

describe('a purpose with more words than are read', () => {
  const long = (constraint: string): Authority => ({
    ...HOSTING,
    purpose: { ...HOSTING.purpose, constraints: Array.from({ length: 30 }, () => constraint.repeat(80)) },
  });

  test('a purpose with more words than are read makes no spend aligned, and the rationale says so', () => {
    const { assessment, rationale } = assessBuiltIn(long('Nothing after six. '), SERVER);
    expect(assessment).toBe('PURPOSE_UNCLEAR');
    expect(rationale).toMatch(/more text than Purser reads/);
  });

  test('a purpose with more words than are read lets no spend pass as merely unclear', () => {
    const lenient: Authority = { ...long('Nothing after six. '), on_purpose_unclear: 'ALLOW' };
    expect(assessBuiltIn(lenient, SERVER).assessment).toBe('PURPOSE_MISALIGNED');
  });
});

describe('a purpose that is shown to its author', () => {
  const hans = (seed: number) =>
    Array.from({ length: 1_900 }, (_, i) =>
      i % 9 === 0 ? 'の' : String.fromCharCode(0x4e00 + ((seed * 7_919 + i * 104_729) % 9_000)),
    ).join('');
  test.each([
    ['names without end', (i: number) => `Only from Merck ${i}, Van Uden ${i} or Kleiput ${i}. `.repeat(40)],
    ['one long prohibition', (i: number) => `No ${'gloves, steel wool, '.repeat(95)} or item ${i}`],
    ['many short sentences', (i: number) => `No wine ${i}. Fuel only for H${i}. `.repeat(55)],
    ['a script without blanks', hans],
  ])('with %s gives a reading of at most 200 kB with its examples', (_, constraint) => {
    const authority: Authority = {
      purpose: {
        objective: constraint(0).slice(0, 2_000),
        constraints: Array.from({ length: 50 }, (__, i) => constraint(i).slice(0, 2_000)),
        context: constraint(51).slice(0, 4_000),
      },
      currency: 'EUR',
      allowed_merchants: Array.from({ length: 1_000 }, (__, i) => `${'購入先'.repeat(50)} ${i}`),
    };
    const reading = showReading(authority);
    const shown = { ...reading, examples: exampleSpends(authority, reading, assessBuiltIn) };
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(200_000);
    expect(Object.values(reading).flat().length).toBeGreaterThan(20);
  });
});

describe('the cache of readings', () => {
  const words = (seed: number) =>
    Array.from({ length: 340 }, (_, i) => ((seed * 7_919 + i * 104_729) % 1_679_616).toString(36)).join(' ');
  const dear = (seed: number): Authority => ({
    purpose: {
      objective: words(seed),
      constraints: Array.from({ length: 25 }, (_, i) => words(seed + 1_000 * i)),
      context: words(-seed),
    },
    currency: 'EUR',
  });

  test('cached readings never take more memory than allowed, however many large purposes are read, and each at most some hundred kilobytes', () => {
    const kept = makeReadingCache(4_000_000);
    kept.readingOf(dear(1));
    expect(kept.bytes()).toBeLessThan(1_200_000);
    for (let seed = 2; seed < 40; seed++) {
      kept.readingOf(dear(seed));
      expect(kept.bytes()).toBeLessThanOrEqual(4_000_000);
    }
    expect(kept.bytes()).toBeGreaterThan(2_000_000);
  });

  test('equal purposes share one cached reading, even as different objects', () => {
    const kept = makeReadingCache(4_000_000);
    const first = kept.readingOf(HOSTING);
    expect(kept.readingOf(structuredClone(HOSTING))).toBe(first);
    expect(kept.readingOf({ ...HOSTING, per_transaction_limit_minor: 5 })).toBe(first);
  });
});
