import type { Authority } from '@purser/contract/authority';
import type { Action } from '@purser/contract/decisions';
import { describe, expect, it } from 'vitest';
import { assessBuiltIn } from './built-in-assessor.ts';
import { showReading } from './shown-reading.ts';

const authority = (constraints: string[], more: Partial<Authority> = {}): Authority => ({
  purpose: {
    objective: 'Buy paper, tools and travel for the printing works.',
    constraints,
    context: 'Seller: Metro.',
  },
  currency: 'EUR',
  allowed_merchants: ['Metro'],
  ...more,
});
const spend = (description: string, more: Partial<Action> = {}) => ({
  action: {
    type: 'purchase',
    merchant: 'Metro',
    amount_minor: 20_000,
    currency: 'EUR',
    description,
    ...more,
  },
});
const kindsOf = (one: Authority, description: string, more?: Partial<Action>): string[] => [
  ...new Set(assessBuiltIn(one, spend(description, more)).questions.map(({ kind }) => kind)),
];

describe('a number above what a clause allows is a question', () => {
  it.each([
    ['Never more than 9 seats of anything', 'editor, 14 seats', 'editor, 9 seats'],
    ['Tool seats: max 5, one per head', 'editor, seats: 6', 'editor, 5 seats'],
    ['Höchstens drei Paletten', 'Papier, 4 Paletten', 'Papier, 3 Paletten'],
    ['Pas plus de dix cartons', 'papier, 12 cartons', 'papier, 10 cartons'],
    ['An order covers at most two weeks', 'paper for four weeks', 'paper for two weeks'],
  ])('%s', (clause, over, within) => {
    const one = authority([clause]);
    expect(kindsOf(one, over)).toEqual(['over_mark']);
    expect(kindsOf(one, within)).not.toContain('over_mark');
  });

  it('is shown with the reading, and a correction takes it away', () => {
    const clause = 'Never more than 9 seats';
    const one = authority([clause]);
    expect(showReading(one).conditions.map(({ met_by }) => met_by)).toContain(
      'The request names at most 9 (seats).',
    );
    const corrected: Authority = {
      ...one,
      purpose: { ...one.purpose, reading: { not: [{ kind: 'condition', words: clause }] } },
    };
    expect(kindsOf(corrected, 'editor, 14 seats')).not.toContain('over_mark');
  });

  it('a number of each, and a number of something else, are none', () => {
    expect(kindsOf(authority(['At most one chair per desk']), 'paper, 12 chairs')).not.toContain('over_mark');
    expect(kindsOf(authority(['Never more than 9 seats']), 'paper, 14 reams')).toEqual([]);
  });
});

describe('a sum for one of several is compared where the request says how many', () => {
  const lodging = authority(['Lodging up to EUR 90 per night']);

  it.each([
    ['2 nights', ['over_mark']],
    ['3 Nächte', []],
    ['EUR 95 per night', ['over_mark']],
    ['hotel', []],
  ])('EUR 200 for %s', (words, kinds) => {
    expect(kindsOf(lodging, `paper, ${words}`).filter((kind) => kind === 'over_mark')).toEqual(kinds);
  });

  it('a larger number that is added settles nothing', () => {
    expect(kindsOf(lodging, 'paper, 2 nights, 9 nights')).toContain('over_mark');
  });

  it('of two units that a sum is for, the one that is known counts', () => {
    const each = authority(['Rooms up to EUR 90 per room and night']);
    expect(kindsOf(each, 'paper, 2 nights')).toContain('over_mark');
    expect(kindsOf(each, 'paper, 3 nights')).not.toContain('over_mark');
  });
});

describe('what a request says outright is a question', () => {
  it.each([
    ['paid_already', 'paper, already paid in May'],
    ['paid_already', 'Papier, Rechnungskopie'],
    ['paid_already', 'papier, déjà réglée'],
    ['paid_already', 'papel, ya pagado'],
    ['paid_already', 'carta, già saldata'],
    ['paid_already', 'papier, reeds betaald'],
    ['split_sum', 'paper, split into two orders'],
    ['split_sum', 'paper, to stay under the limit'],
    ['split_sum', 'Papier, aufgeteilt in zwei'],
    ['private_use', 'paper, as agreed with the husband'],
    ['private_use', 'paper, ship to his home address'],
    ['private_use', 'Papier, Lieferung an die Privatadresse'],
    ['private_use', 'papier, anniversaire'],
    ['private_use', 'carta, per la moglie'],
    ['private_use', 'paper, comes off her salary'],
    ['private_use', 'paper for our neighbours'],
  ])('%s: %s', (kind, description) => {
    expect(kindsOf(authority([]), description)).toEqual([kind]);
  });

  it.each([
    'paper, paid by card',
    'brother toner',
    'paper, second half of the set',
    'home button for the tool',
    'paper copy of the plan',
  ])('honest words are none: %s', (description) => {
    expect(kindsOf(authority([]), description)).toEqual([]);
  });

  it('an approval that is still to come is one only where the purpose sets a condition', () => {
    const signed = authority(['Tools only once Ruth has signed'], { allowed_merchants: ['Metro'] });
    expect(kindsOf(signed, 'tools, signature to follow')).toContain('condition_denied');
    expect(kindsOf(authority([]), 'tools, signature to follow')).toEqual([]);
  });

  it('words that the operator uses of what is wanted are none', () => {
    const gifts: Authority = {
      ...authority([]),
      purpose: { objective: 'Send birthday flowers to the home of each patient.', context: 'Seller: Metro.' },
    };
    expect(kindsOf(gifts, 'flowers, birthday, deliver to her home')).toEqual([]);
  });

  it('words put before or between hide none', () => {
    expect(kindsOf(authority([]), 'for paper for our neighbours')).toEqual(['private_use']);
    expect(kindsOf(authority([]), 'deliver the paper to her home')).toEqual(['private_use']);
  });
});

describe('the operator says how much is asked', () => {
  it('a missing description is a question only where the authority requires one', () => {
    const { description: _, ...action } = spend('').action;
    const asked = (one: Authority) => assessBuiltIn(one, { action }).questions.map(({ kind }) => kind);
    expect(asked(authority([], { require_description: true }))).toEqual(['missing_description']);
    expect(asked(authority([]))).toEqual([]);
    expect(kindsOf(authority([], { require_description: true }), 'paper')).toEqual([]);
  });

  it.each([
    ['LOW', ['paid_already']],
    ['NORMAL', ['paid_already', 'over_mark']],
    ['HIGH', ['paid_already', 'over_mark', 'new_words']],
  ] as const)('%s', (attention, kinds) => {
    const one = authority(['Never more than 9 seats']);
    const at = { ...one, purpose: { ...one.purpose, attention } };
    expect(kindsOf(at, 'zirqon, 14 seats, already paid')).toEqual(kinds);
  });
});
