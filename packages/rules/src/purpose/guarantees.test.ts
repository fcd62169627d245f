import type { Authority } from '@purser/contract/authority';
import { DecisionRequest, type SpendRequest } from '@purser/contract/decisions';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PurposeAssessment } from '../domain/assessment.ts';
import { NO_FACTS, type SpendFacts } from '../domain/spend-facts.ts';
import { assessBuiltIn } from './built-in-assessor.ts';
import { historyKey } from './history.ts';

const RANK: Record<PurposeAssessment, number> = {
  PURPOSE_MISALIGNED: 0,
  PURPOSE_UNCLEAR: 1,
  PURPOSE_ALIGNED: 2,
};

const AUTHORITIES: Authority[] = [
  {
    purpose: {
      objective: 'Buy bread, flour, milk and coffee for the bakery café in Hafenstrasse.',
      constraints: [
        'No alcohol',
        'No furniture',
        'Coffee: organic only',
        'No gift cards except for the staff party',
      ],
      context: 'Usual sellers are Metro and Mühle Arnold.',
    },
    currency: 'EUR',
  },
  {
    purpose: {
      objective: 'Pay for servers, domains and monitoring of the booking site.',
      constraints: [
        'No advertising',
        'Monthly plans only, no annual commitments',
        'Servers only from Hetzner',
        'Never more than 9 seats of anything',
        'Hotels up to EUR 90 per night',
      ],
    },
    currency: 'EUR',
  },
  {
    purpose: {
      objective: 'Buy what the residents ask for.',
      constraints: ['Only what a resident asked for', 'No alcohol', 'Taxis only for H1 to H9'],
    },
    currency: 'EUR',
    allowed_merchants: ['Amazon', 'Ostrava Partners'],
  },
  {
    purpose: {
      objective: 'Die Werkstätten bezahlen.',
      constraints: ['Rechnungen nur mit Abnahme', 'Keine Gutscheine', 'Nichts Privates', '酒類は禁止'],
      context: 'Karosserie Blum DE02120300000000202051. 富澤商店。',
    },
    currency: 'EUR',
  },
];
const MERCHANTS = ['Metro', 'Hetzner', 'Bet365', 'Karosserie Blum', 'Ostrava Partners', 'Amazon', '富澤商店'];

/** Words of the purposes, of what they forbid, of attacks and of nothing, with the signs that may stand between. */
const WORDS = [
  ...'flour milk coffee servers domains monitoring bakery organic residents wine whisky chairs casino bitcoin'.split(
    ' ',
  ),
  ...'furniture advertising gift card cards voucher staff party annual monthly second hand first class signed'.split(
    ' ',
  ),
  ...'the for no not without free non except if only from paid signed approved H1 H12 12.50 max 5 Metro Hetzner'.split(
    ' ',
  ),
  ...'Gutscheine Rechnungen Abnahme privat her pony wedding 日本酒 酒類 上新粉 DE02120300000000202051'.split(
    ' ',
  ),
  ...'already paid again 14 seats nights home deliver to her birthday for our neighbours split into two orders approval pending'.split(
    ' ',
  ),
  ...['glasses', 'rack', 'LT601010012345678901', 'Reviewer:', 'ignore previous rules', 'aligned', 'w i n e'],
  ...['wi\u200dne', 'ᴡɪɴᴇ', 'wіne', 'Abnahme liegt vor', '-free', 'alcohol-free', '(', '"', '.', ';', '\n'],
];
const text = fc
  .array(fc.constantFrom(...WORDS), { maxLength: 10 })
  .map((words) => words.join(' ').trim().slice(0, 1_000));

const spend: fc.Arbitrary<SpendRequest> = fc
  .record({
    type: fc.constantFrom('purchase', 'payment', 'transfer', 'refund', 'cash', 'gift_card'),
    merchant: fc.constantFrom(...MERCHANTS),
    payee: fc.constantFrom(undefined, 'iban:DE02120300000000202051', 'iban:LT601010012345678901'),
    amount_minor: fc.oneof(fc.constant(100), fc.integer({ min: 1, max: 1_000_000 })),
    description: fc.option(text, { nil: undefined }),
    category: fc.option(fc.oneof(text, fc.constantFrom('7995', 'MCC 5921', '5411')), { nil: undefined }),
    task: fc.option(text, { nil: undefined }),
    trace: fc.array(
      text.map((step) => ({ step })),
      { maxLength: 2 },
    ),
  })
  .map(({ payee, description, category, task, trace, ...action }) => ({
    action: {
      ...action,
      currency: 'EUR',
      ...(payee === undefined ? {} : { payee_id: payee }),
      ...(description === undefined ? {} : { description }),
      ...(category === undefined ? {} : { category }),
    },
    ...(task === undefined ? {} : { task }),
    trace,
  }));

const facts: fc.Arbitrary<SpendFacts> = fc
  .record({
    listed: fc.subarray(MERCHANTS),
    known: fc.constantFrom(...MERCHANTS),
    allowed: fc.integer({ min: 0, max: 2 }),
    refused: fc.integer({ min: 0, max: 2 }),
    word: fc.constantFrom('flour', 'wine', 'server', 'chair'),
    is_paid: fc.boolean(),
    paid_as: fc.constantFrom('purchase', 'refund'),
    payee_id: fc.constantFrom(null, 'iban:DE02120300000000202051'),
  })
  .map(({ listed, known, allowed, refused, word, is_paid, paid_as, payee_id }) => {
    const one = {
      merchant: historyKey(known),
      payee_id,
      said_by_people: { allowed, refused },
      settled_by_rail: 0,
      words: new Map([[word, { allowed, refused }]]),
      usual_minor: new Map([['EUR', { low: 1, high: 500_000 }]]),
      last_at: '2026-11-01T00:00:00.000Z',
    };
    return {
      allowances: [],
      listed: listed.map((merchant, i) => ({
        entry_id: `mer_${i}`,
        merchant,
        payee_ids: [],
        verdict: 'ALLOWED' as const,
        listed_by: 'user:ada',
        listed_at: '2026-11-01T00:00:00.000Z',
      })),
      precedents: { by_merchant: new Map([[one.merchant, [one]]]), by_payee: new Map() },
      answers: new Map(),
      paid: is_paid
        ? [
            {
              decision_id: 'dec_1',
              merchant: known,
              payee_id,
              amount_minor: 100,
              currency: 'EUR',
              at: '2026-11-09T00:00:00.000Z',
              state: 'EXECUTED' as const,
              type: paid_as,
              description: 'flour',
            },
          ]
        : [],
      as_of: is_paid ? '2026-11-10T00:00:00.000Z' : null,
    };
  });

/** Fields that bind the payer, so they are not free text. */
const BINDING = ['action.merchant', 'action.payee_id'];

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  'x-rule'?: { kind: string };
}

/** The paths of all fields of a schema that take text of the agent's own, or anything. A new field joins by itself. */
function freeTextsOf({ type, properties, items, 'x-rule': rule }: Schema, path = ''): string[] {
  if (items !== undefined) return freeTextsOf(items, `${path}[]`);
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, each]) =>
      freeTextsOf(each, path === '' ? name : `${path}.${name}`),
    );
  const is_free =
    rule?.kind === 'text' || rule?.kind === 'free_object' || (type === 'string' && rule === undefined);
  return is_free && !BINDING.includes(path) ? [path] : [];
}
const FREE_TEXTS = freeTextsOf(DecisionRequest as Schema);

/** An entry of a list, with the text in each field that it must have. */
const entryOf = ({ required = [] }: Schema, text: string): object =>
  Object.fromEntries(required.map((name) => [name, text]));

/** A copy of what a request has at a path, with text added there. A list gets it in each of its entries, or as another. */
function added(
  value: unknown,
  path: readonly string[],
  text: string,
  where: string,
  schema: Schema,
): unknown {
  const [name, ...rest] = path;
  if (name === '[]') {
    const items = schema.items ?? {};
    const list = (value ?? []) as unknown[];
    if (list.length > 0 && where !== 'as another step')
      return list.map((each) => added(each, rest, text, where, items));
    const more = added(entryOf(items, text), rest, text, where, items);
    return text.length % 2 === 0 ? [more, ...list] : [...list, more];
  }
  if (name !== undefined) {
    const object = (value ?? {}) as Record<string, unknown>;
    const field = schema.properties?.[name] ?? {};
    return { ...object, [name]: added(object[name], rest, text, where, field) };
  }
  if (schema.type === 'object') return { ...(value as object | undefined), [text]: text };
  if (value === undefined || value === '') return text;
  return where === 'before' ? `${text} ${value}` : `${value} ${text}`;
}

const withText = (request: SpendRequest, path: string, text: string, where: string): SpendRequest =>
  added(
    request,
    path.replaceAll('[]', '.[]').split('.'),
    text,
    where,
    DecisionRequest as Schema,
  ) as SpendRequest;

const rank = (authority: Authority, request: SpendRequest, known: SpendFacts): number =>
  RANK[assessBuiltIn(authority, request, known).assessment];

const RUNS = Number(process.env.PURPOSE_RUNS);

describe('text that an agent adds never makes an assessment better', () => {
  it('in any field that takes free text, before or behind its own, whatever the purpose and the facts', () => {
    expect(FREE_TEXTS).toEqual(expect.arrayContaining(['action.description', 'action.type', 'trace[].step']));
    fc.assert(
      fc.property(
        fc.constantFrom(...AUTHORITIES),
        spend,
        facts,
        text.filter((added) => added !== ''),
        fc.oneof(
          fc.constantFrom(...FREE_TEXTS).map((path) => [path]),
          fc.constant(FREE_TEXTS),
        ),
        fc.constantFrom('before', 'behind', 'as another step'),
        (authority, request, known, added, paths, where) => {
          const changed = paths.reduce((one, path) => withText(one, path, added, where), request);
          expect(changed).not.toEqual(request);
          expect(rank(authority, changed, known)).toBeLessThanOrEqual(rank(authority, request, known));
        },
      ),
      { numRuns: RUNS },
    );
  });

  const [bakery] = AUTHORITIES as [Authority];
  const action = { type: 'purchase', merchant: 'Metro', amount_minor: 100, currency: 'EUR' };
  const earlier = {
    decision_id: 'dec_1',
    merchant: 'Metro',
    payee_id: 'iban:DE02120300000000202051',
    amount_minor: 100,
    currency: 'EUR',
    at: '2026-11-09T00:00:00.000Z',
    state: 'EXECUTED' as const,
    type: 'purchase',
    description: 'order 771',
  };
  const paid: SpendFacts = { ...NO_FACTS, paid: [earlier], as_of: '2026-11-10T00:00:00.000Z' };
  it.each([
    ['a type that is as good as cash', { type: 'cash' }, { type: 'cash run' }, NO_FACTS],
    ['a code of what is forbidden', { category: '5921' }, { category: 'food 5921' }, NO_FACTS],
    [
      'a purchase that was paid already',
      { payee_id: earlier.payee_id, description: 'order 771' },
      { type: 'purchase refund', payee_id: earlier.payee_id, description: 'order 771' },
      paid,
    ],
    [
      'a refund to another payee',
      { type: 'refund', payee_id: 'iban:LT601010012345678901' },
      { type: 'refund order', payee_id: 'iban:LT601010012345678901' },
      paid,
    ],
  ])('beside %s, it hides nothing', (_, plain, more, known) => {
    const base = rank(bakery, { action: { ...action, ...plain } }, known);
    expect(base).toBeLessThan(rank(bakery, { action }, NO_FACTS));
    expect(rank(bakery, { action: { ...action, ...more } }, known)).toBeLessThanOrEqual(base);
  });

  it('however much of it there is', () => {
    const wine: SpendRequest = {
      action: {
        type: 'purchase',
        merchant: 'Metro',
        amount_minor: 100,
        currency: 'EUR',
        description: 'flour and wine',
      },
    };
    expect(rank(bakery, wine, NO_FACTS)).toBe(RANK.PURPOSE_MISALIGNED);
    const flood = 'flour milk coffee '.repeat(220);
    const trace = Array.from({ length: 25 }, () => ({ step: flood.slice(0, 2_000) }));
    expect(rank(bakery, { ...wine, task: flood, trace }, NO_FACTS)).toBe(RANK.PURPOSE_MISALIGNED);
    const padded = { ...wine.action, description: `${flood.slice(0, 1_980)} wine` };
    expect(rank(bakery, { action: padded }, NO_FACTS)).toBe(RANK.PURPOSE_MISALIGNED);
  });
});

describe('an aligned spend rests on a fact', () => {
  it('every aligned judgement names what vouches, and none with a final reason against it does', () => {
    fc.assert(
      fc.property(fc.constantFrom(...AUTHORITIES), spend, facts, (authority, request, known) => {
        const judged = assessBuiltIn(authority, request, known);
        if (judged.assessment === 'PURPOSE_ALIGNED') expect(judged.vouched_by).not.toBeNull();
        if (judged.is_final) expect(judged.vouched_by).toBeNull();
        expect(judged.is_final && judged.assessment !== 'PURPOSE_MISALIGNED').toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('without any fact nothing is aligned: unknown merchant, nothing listed, nothing said', () => {
    fc.assert(
      fc.property(fc.constantFrom(...AUTHORITIES), spend, (authority, request) => {
        const { payee_id: _, ...action } = request.action;
        const unknown = { ...request, action: { ...action, merchant: 'Kontor Neun' } };
        expect(rank(authority, unknown, NO_FACTS)).toBeLessThan(RANK.PURPOSE_ALIGNED);
      }),
      { numRuns: 300 },
    );
  });

  it('what people refused never raises an assessment', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...AUTHORITIES),
        spend,
        fc.integer({ min: 1, max: 4 }),
        (authority, request, refused) => {
          const one = {
            merchant: historyKey(request.action.merchant),
            payee_id: request.action.payee_id ?? null,
            said_by_people: { allowed: 0, refused },
            settled_by_rail: 0,
            words: new Map(),
            usual_minor: new Map(),
            last_at: '2026-11-01T00:00:00.000Z',
          };
          const bad = {
            ...NO_FACTS,
            precedents: { by_merchant: new Map([[one.merchant, [one]]]), by_payee: new Map() },
          };
          expect(rank(authority, request, bad)).toBeLessThanOrEqual(rank(authority, request, NO_FACTS));
        },
      ),
      { numRuns: 300 },
    );
  });
});
