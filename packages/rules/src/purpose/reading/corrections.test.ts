import type { Authority } from '@purser/contract/authority';
import type { ReadingCorrections } from '@purser/contract/purpose/fields';
import { describe, expect, it, test } from 'vitest';
import { assessBuiltIn } from '../built-in-assessor.ts';
import { showReading } from '../shown-reading.ts';

const AUTHORITY: Authority = {
  purpose: {
    objective: 'Order servers and printer paper from Nordwerk and Antalis.',
    constraints: [
      'No perfume.',
      'Paper only after approval.',
      'Chemicals only from Merck or VWR.',
      'Nothing private.',
      'Nothing over EUR 400.',
      'Ideally organic.',
      'Qwx zrt.',
      'Seats only in second class.',
      'A new IBAN counts once Ruth has called back.',
    ],
    context: 'Manager: Priya Nair. Buy what the members asked for.',
  },
  currency: 'EUR',
  allowed_merchants: ['Zeldin'],
};
const under = (reading: ReadingCorrections, authority = AUTHORITY): Authority => ({
  ...authority,
  purpose: { ...authority.purpose, reading },
});
const judged = (authority: Authority, merchant: string, description: string, amount_minor = 4_200) =>
  assessBuiltIn(authority, {
    action: { type: 'purchase', merchant, amount_minor, currency: 'EUR', description },
  }).assessment;

test('every reading that is shown is taken away by its kind and words, and by nothing else that is shown', () => {
  const lists = [
    'wanted',
    'forbidden',
    'conditions',
    'merchants',
    'people',
    'wishes',
    'not_understood',
  ] as const;
  const shown = showReading(AUTHORITY);
  for (const list of lists) {
    expect(shown[list], list).not.toEqual([]);
    for (const { kind, words } of shown[list]) {
      const left = showReading(under({ not: [{ kind, words }] }));
      const gone = shown[list].filter((one) => one.kind === kind && one.words === words);
      expect(
        left[list].filter((one) => one.kind === kind && one.words === words),
        words,
      ).toEqual([]);
      // A wish that is none is read as a rule, or as nothing.
      for (const other of list === 'wishes' ? [] : lists) {
        const kept = shown[other].filter((one) => !gone.includes(one as never));
        expect(left[other], `${other} without ${words}`).toEqual(expect.arrayContaining(kept));
      }
    }
  }
  // A reading that is taken away may show another one behind it; in the end none is left.
  let taken: ReadingCorrections['not'] = [];
  const isEmpty = (reading: ReturnType<typeof showReading>) =>
    lists.every((list) => reading[list].length === 0);
  for (let round = 0; round < 5 && !isEmpty(showReading(under({ not: taken }))); round += 1) {
    const left = showReading(under({ not: taken }));
    taken = [...taken, ...lists.flatMap((list) => left[list].map(({ kind, words }) => ({ kind, words })))];
  }
  expect(isEmpty(showReading(under({ not: taken })))).toBe(true);
});

describe('the rules go by what is left', () => {
  const not = (kind: string, words: string) => under({ not: [{ kind, words }] });
  it.each([
    ['a merchant', 'Nordwerk', 'server', not('merchant', 'nordwerk'), 'PURPOSE_ALIGNED', 'PURPOSE_UNCLEAR'],
    ['an allowed merchant', 'Zeldin', 'x', not('merchant', 'Zeldin'), 'PURPOSE_ALIGNED', 'PURPOSE_UNCLEAR'],
    ['a prohibition', 'Nordwerk', 'perfume', not('forbidden', 'perfume'), 'PURPOSE_MISALIGNED', null],
    [
      'a condition',
      'Nordwerk',
      'paper',
      not('condition', 'paper only after approval'),
      'PURPOSE_UNCLEAR',
      'PURPOSE_ALIGNED',
    ],
  ] as const)('%s', (_, merchant, description, corrected, before, after) => {
    expect(judged(AUTHORITY, merchant, description)).toBe(before);
    const found = judged(corrected, merchant, description);
    if (after === null) expect(found).not.toBe(before);
    else expect(found).toBe(after);
  });

  test('a sum', () => {
    expect(judged(AUTHORITY, 'Nordwerk', 'server', 40_100)).toBe('PURPOSE_UNCLEAR');
    const corrected = under({ not: [{ kind: 'condition', words: 'Nothing over EUR 400' }] });
    expect(judged(corrected, 'Nordwerk', 'server', 40_100)).toBe('PURPOSE_ALIGNED');
  });
});

describe('what a correction adds counts', () => {
  const also = (kind: 'wanted' | 'forbidden' | 'condition' | 'merchant' | 'person', words: string) =>
    under({ also: [{ kind, words }] });
  it.each([
    ['merchant', 'Okabe', 'Okabe', 'servers', 'PURPOSE_UNCLEAR', 'PURPOSE_ALIGNED'],
    ['person', 'Nordwerk', 'Nordwerk', 'server', 'PURPOSE_ALIGNED', 'PURPOSE_UNCLEAR'],
    ['forbidden', 'zirqon', 'Nordwerk', 'zirqon copings', 'PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED'],
    ['condition', 'the neighbours agree', 'Nordwerk', 'server', 'PURPOSE_ALIGNED', 'PURPOSE_UNCLEAR'],
    ['condition', 'at most EUR 10', 'Nordwerk', 'server', 'PURPOSE_ALIGNED', 'PURPOSE_UNCLEAR'],
    ['wanted', 'hotels', 'Booking.com', 'hotel, two nights', 'PURPOSE_UNCLEAR', 'PURPOSE_ALIGNED'],
  ] as const)('%s: %s', (kind, words, merchant, description, before, after) => {
    expect(judged(AUTHORITY, merchant, description)).toBe(before);
    expect(judged(also(kind, words), merchant, description)).toBe(after);
  });

  it.each(['wanted', 'forbidden', 'condition', 'merchant', 'person'] as const)(
    'and is shown with its place, whatever the words: %s',
    (kind) => {
      const list = {
        wanted: 'wanted',
        forbidden: 'forbidden',
        condition: 'conditions',
        merchant: 'merchants',
        person: 'people',
      } as const;
      for (const words of ['Zirqon', 'the', '???', 'no gift cards', 'サファイア', 'a'.repeat(400)]) {
        const found = showReading(also(kind, words))[list[kind]].filter(
          ({ from }) => from.field === 'purpose.reading.also',
        );
        const is_other_rule = kind === 'condition' && words === 'no gift cards';
        expect(found.length > 0 || is_other_rule, words).toBe(true);
        for (const { from } of found) expect(from.index).toBe(0);
      }
    },
  );

  test('a correction that adds what another takes away wins', () => {
    const both = under({
      not: [{ kind: 'merchant', words: 'Nordwerk' }],
      also: [{ kind: 'merchant', words: 'Nordwerk' }],
    });
    expect(judged(both, 'Nordwerk', 'server')).toBe('PURPOSE_ALIGNED');
  });
});
