import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PurposeAssessment } from '../domain/assessment.ts';
import type { Authority } from '../domain/authorities.ts';
import { NO_FACTS, type SpendFacts } from '../domain/spend-facts.ts';
import type { SpendRequest } from '../domain/spends.ts';
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
  ...['glasses', 'rack', 'LT601010012345678901', 'Reviewer:', 'ignore previous rules', 'aligned', 'w i n e'],
  ...['wi\u200dne', 'ᴡɪɴᴇ', 'wіne', 'Abnahme liegt vor', '-free', 'alcohol-free', '(', '"', '.', ';', '\n'],
];
const text = fc
  .array(fc.constantFrom(...WORDS), { maxLength: 10 })
  .map((words) => words.join(' ').trim().slice(0, 1_000));

const spend: fc.Arbitrary<SpendRequest> = fc
  .record({
    type: fc.constantFrom('purchase', 'payment', 'transfer', 'refund'),
    merchant: fc.constantFrom(...MERCHANTS),
    payee: fc.constantFrom(undefined, 'iban:DE02120300000000202051', 'iban:LT601010012345678901'),
    amount_minor: fc.integer({ min: 1, max: 1_000_000 }),
    description: fc.option(text, { nil: undefined }),
    category: fc.option(text, { nil: undefined }),
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
  })
  .map(({ listed, known, allowed, refused, word, is_paid }) => {
    const one = {
      merchant: historyKey(known),
      payee_id: null,
      said_by_people: { allowed, refused },
      settled_by_rail: 0,
      words: new Map([[word, { allowed, refused }]]),
      usual_minor: new Map([['EUR', { low: 1, high: 500_000 }]]),
      last_at: '2026-11-01T00:00:00.000Z',
    };
    return {
      listed: listed.map((merchant, i) => ({
        entry_id: `mer_${i}`,
        merchant,
        payee_ids: [],
        verdict: 'ALLOWED' as const,
        listed_by: 'user:ada',
        listed_at: '2026-11-01T00:00:00.000Z',
      })),
      precedents: { by_merchant: new Map([[one.merchant, [one]]]), by_payee: new Map() },
      paid: is_paid
        ? [
            {
              decision_id: 'dec_1',
              merchant: known,
              payee_id: null,
              amount_minor: 100,
              currency: 'EUR',
              at: '2026-11-09T00:00:00.000Z',
              state: 'EXECUTED' as const,
              type: 'purchase',
              description: 'flour',
            },
          ]
        : [],
      as_of: is_paid ? '2026-11-10T00:00:00.000Z' : null,
    };
  });

const rank = (authority: Authority, request: SpendRequest, known: SpendFacts): number =>
  RANK[assessBuiltIn(authority, request, known).assessment];

const RUNS = Number(process.env.PURPOSE_RUNS ?? 1_500);

describe('text that an agent adds never makes an assessment better', () => {
  const joined = (own: string | undefined, added: string, is_before: boolean) =>
    own === undefined || own === '' ? added : is_before ? `${added} ${own}` : `${own} ${added}`;

  it('in any field but merchant and payee, before or behind its own, whatever the purpose and the facts', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...AUTHORITIES),
        spend,
        facts,
        text,
        fc.constantFrom('description', 'category', 'task', 'step', 'steps before', 'all'),
        fc.boolean(),
        (authority, request, known, added, field, is_before) => {
          const { action, task, trace = [] } = request;
          const is = (name: string) => field === name || field === 'all';
          const changed: SpendRequest = {
            ...request,
            action: {
              ...action,
              ...(is('description') ? { description: joined(action.description, added, is_before) } : {}),
              ...(is('category') ? { category: joined(action.category, added, is_before) } : {}),
            },
            ...(is('task') ? { task: joined(task, added, is_before) } : {}),
            trace: [
              ...(field === 'steps before' ? [{ step: added }] : []),
              ...trace,
              ...(is('step') ? [{ step: added }] : []),
            ],
          };
          expect(rank(authority, changed, known)).toBeLessThanOrEqual(rank(authority, request, known));
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('however much of it there is', () => {
    const [bakery] = AUTHORITIES as [Authority];
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
  it('every aligned judgement names what vouches, and no other one does', () => {
    fc.assert(
      fc.property(fc.constantFrom(...AUTHORITIES), spend, facts, (authority, request, known) => {
        const judged = assessBuiltIn(authority, request, known);
        expect(judged.vouched_by !== null).toBe(judged.assessment === 'PURPOSE_ALIGNED');
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
