import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldText, gramsOf, signatureOf } from './folded-text.ts';

describe('a folded text', () => {
  test.each([
    ['Café  Zoë\n', 'cafe zoe'],
    ['ＨＥＴＺＮＥＲ', 'hetzner'],
    ['Ünïcode ÅNGSTRÖM', 'unicode angstrom'],
    ['ﬁnance', 'finance'],
    ['हिन्दी', 'हिन्दी'.normalize('NFKD')],
    ['100 %_\\', '100 %_\\'],
    ['\u0301', ''],
  ])('of %j is %j', (text, folded) => {
    expect(foldText(text)).toBe(folded);
  });

  test('of ASCII is what the general rule makes of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'Z', '~', '!', ' ', '\t', '\u007f') }), (text) => {
        // The accented letter keeps the text from the short way.
        expect(`${foldText(text)}e`).toBe(foldText(`${text.trim()}\u00e9`));
      }),
    );
  });

  test('is its own', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(foldText(foldText(text))).toBe(foldText(text));
      }),
    );
  });
});

describe('the numbers of a text', () => {
  test('hold those of every text that it contains', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (before, within, after) => {
        const all = new Set(gramsOf('ws_1', before + within + after));
        expect(gramsOf('ws_1', within).every((gram) => all.has(gram))).toBe(true);
      }),
    );
  });

  test('are those of its parts of three characters, each once, in their order', () => {
    const unit = fc.constantFrom('a', 'b', ' ', '酒', '\u0301');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
        const parts = Array.from({ length: Math.max(0, text.length - 2) }, (_, i) => text.slice(i, i + 3));
        const numbers = parts.flatMap((part) => gramsOf('ws_1', part));
        expect(gramsOf('ws_1', text)).toEqual([...new Set(numbers)]);
      }),
    );
    // An index is kept, so the numbers stay what they are.
    expect(gramsOf('ws_1', 'abcd')).toEqual([-1460203659, 1158538068]);
  });

  test('differ between workspaces, are 32-bit, and none belong to a short text', () => {
    const [one, other] = ['ws_1', 'ws_2'].map((id) => gramsOf(id, 'hetzner online'));
    expect(one?.filter((gram) => other?.includes(gram))).toEqual([]);
    expect(one?.every((gram) => gram === (gram | 0))).toBe(true);
    expect(gramsOf('ws_1', 'ab')).toEqual([]);
  });
});

test('a signature has a bit for each number, and one of eight at most', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { maxLength: 500 }),
      (grams) => {
        const signature = signatureOf(grams);
        const bits = signature.length * 8;
        const places = new Set(grams.map((gram) => gram & (bits - 1)));
        const set = Array.from({ length: bits }, (_, bit) => bit).filter(
          (bit) => ((signature[bit >> 3] as number) >> (bit & 7)) & 1,
        );
        expect(set).toEqual([...places].sort((a, b) => a - b));
        expect(set.length).toBeLessThanOrEqual(bits / 8);
        expect(Number.isInteger(Math.log2(bits))).toBe(true);
      },
    ),
  );
});
